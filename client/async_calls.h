// The asynchronous calls of one client: a completion queue, the thread that waits on it, and the calls under way.
//
// gRPC's callback API would need neither, but a channel may not go away within one of its callbacks (1.51 crashes), and
// no one can tell when a callback's last reference is gone.

#ifndef CVAE_CLIENT_ASYNC_CALLS_H_
#define CVAE_CLIENT_ASYNC_CALLS_H_

#include <memory>
#include <thread>
#include <unordered_map>

#include "base/mutex.h"
#include "grpcpp/completion_queue.h"

namespace cvae {

class AsyncCalls {
 public:
  // One call. Its address is the tag of its one event in the queue at a time.
  class Call {
   public:
    virtual ~Call() = default;
    // Puts its first event into the queue.
    virtual void Start() = 0;
    // Its event has come: false if the call is over and done with, otherwise another event is in the queue. On the
    // queue's thread.
    virtual bool Advance() = 0;
    // Makes the event come soon and be the last. From any thread.
    virtual void Cancel() = 0;
  };

  AsyncCalls();
  // Cancels what is under way and waits for it to end. REQUIRES not to be on the queue's thread.
  ~AsyncCalls();
  AsyncCalls(const AsyncCalls&) = delete;
  AsyncCalls& operator=(const AsyncCalls&) = delete;

  grpc::CompletionQueue& queue() { return queue_; }

  // Starts a call, and keeps it until it is over. Thread-safe.
  void Add(std::unique_ptr<Call> call);

 private:
  void Run();
  // The call of that tag. Under the lock that Add held: the thread that added it is seen to be done with it.
  Call* Find(void* tag);

  grpc::CompletionQueue queue_;

  Mutex mutex_;
  CondVar none_left_;
  std::unordered_map<void*, std::unique_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);  // by tag

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cvae

#endif  // CVAE_CLIENT_ASYNC_CALLS_H_
