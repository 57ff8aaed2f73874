// A few threads that share loops over independent indices.

#ifndef CVAE_KERNELS_CPU_THREAD_POOL_H_
#define CVAE_KERNELS_CPU_THREAD_POOL_H_

#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace cvae {

// Thread-safe.
class ThreadPool {
 public:
  // Starts threads - 1 workers; the caller of a loop is the other thread. REQUIRES threads >= 1.
  explicit ThreadPool(int threads);
  // REQUIRES: no loop runs.
  ~ThreadPool();

  using Body = std::function<void(int index, int slot)>;

  // Calls body once for each index in [0, count), from the calling thread and from workers that are idle, and returns
  // when all are done. `slot` in [0, threads) belongs to one thread of this loop: scratch memory by slot is never
  // shared. Several threads may run loops at once; none waits for workers that another's keeps busy.
  void ParallelFor(int count, const Body& body);

 private:
  // One ParallelFor, on its caller's stack.
  struct Loop {
    const Body& body;
    const int count;
    std::atomic<int> next{0};
    int slots = 1;    // handed out; the caller's is 0. Under mutex_
    int helpers = 0;  // workers in it. Under mutex_
  };

  void Work();
  static void Run(Loop& loop, int slot);

  const int threads_;
  Mutex mutex_;
  CondVar work_;
  CondVar left_;  // a worker left a loop
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Loop*> loops_ ABSL_GUARDED_BY(mutex_);  // that want helpers
  std::vector<std::thread> workers_;                 // last: they use everything above
};

}  // namespace cvae

#endif  // CVAE_KERNELS_CPU_THREAD_POOL_H_
