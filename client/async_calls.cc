#include "client/async_calls.h"

#include <utility>

namespace cvae {

AsyncCalls::AsyncCalls() : thread_([this] { Run(); }) {}

AsyncCalls::~AsyncCalls() {
  {
    MutexLock lock(mutex_);
    for (const auto& [tag, call] : calls_) call->Cancel();
    while (!calls_.empty()) none_left_.Wait(mutex_);
  }
  queue_.Shutdown();  // only now: a call on its way to a retry would set an alarm on a queue that is gone
  thread_.join();
}

void AsyncCalls::Add(std::unique_ptr<Call> call) {
  Call* const raw = call.get();
  {
    MutexLock lock(mutex_);
    calls_.emplace(raw, std::move(call));
  }
  raw->Start();
}

void AsyncCalls::Run() {
  void* tag = nullptr;
  bool ok = false;  // of no use here: a call's status says more, and an alarm that was cancelled does not matter
  while (queue_.Next(&tag, &ok)) {
    if (Find(tag)->Advance()) continue;
    MutexLock lock(mutex_);
    calls_.erase(tag);
    if (calls_.empty()) none_left_.NotifyAll();
  }
}

AsyncCalls::Call* AsyncCalls::Find(void* tag) {
  MutexLock lock(mutex_);
  return calls_.at(tag).get();
}

}  // namespace cvae
