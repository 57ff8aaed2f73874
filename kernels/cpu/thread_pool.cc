#include "kernels/cpu/thread_pool.h"

#include <algorithm>

namespace cvae {

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  work_.NotifyAll();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::ParallelFor(int count, const Body& body) {
  if (count <= 1 || threads_ == 1) {
    for (int i = 0; i < count; ++i) body(i, 0);
    return;
  }
  Loop loop{body, count};
  {
    MutexLock lock(mutex_);
    loops_.push_back(&loop);
  }
  for (int helpers = std::min(count, threads_) - 1; helpers > 0; --helpers) work_.NotifyOne();
  Run(loop, 0);
  MutexLock lock(mutex_);
  // No worker joins any more; those that did leave soon.
  if (const auto found = std::find(loops_.begin(), loops_.end(), &loop); found != loops_.end()) loops_.erase(found);
  while (loop.helpers > 0) left_.Wait(mutex_);
}

void ThreadPool::Run(Loop& loop, int slot) {
  for (int i = loop.next.fetch_add(1); i < loop.count; i = loop.next.fetch_add(1)) loop.body(i, slot);
}

void ThreadPool::Work() {
  MutexLock lock(mutex_);
  while (true) {
    while (!stopped_ && loops_.empty()) work_.Wait(mutex_);
    if (stopped_) return;
    Loop& loop = *loops_.front();
    const int slot = loop.slots++;
    ++loop.helpers;
    if (loop.slots == threads_) loops_.pop_front();
    mutex_.Unlock();
    Run(loop, slot);
    mutex_.Lock();
    // Every index is taken: nobody else need join.
    if (const auto found = std::find(loops_.begin(), loops_.end(), &loop); found != loops_.end()) loops_.erase(found);
    if (--loop.helpers == 0) left_.NotifyAll();
  }
}

}  // namespace cvae
