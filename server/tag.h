// What a completion queue hands back: an event, and what to do when it comes.

#ifndef CVAE_SERVER_TAG_H_
#define CVAE_SERVER_TAG_H_

#include <functional>
#include <utility>

#include "absl/base/dynamic_annotations.h"
#include "grpcpp/completion_queue.h"

namespace cvae {

// Lives at least until its event came. Its address is the tag.
class Tag {
 public:
  explicit Tag(std::function<void(bool ok)> on_event) : on_event_(std::move(on_event)) {}
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;

  // May delete the tag.
  void Fire(bool ok) {
    const std::function<void(bool)> on_event = on_event_;
    on_event(ok);
  }

 private:
  const std::function<void(bool ok)> on_event_;
};

// For as long as it lives ThreadSanitizer overlooks what this thread reads and writes: for calls into gRPC that hand an
// operation to a queue's thread, and for that thread's taking it. The distribution's gRPC is not instrumented, so that
// it does not see the one happen before the other, though its inline headers are compiled with us. What is ours is
// handed over beside it with an atomic or a mutex.
class HandoverThroughGrpc {
 public:
  HandoverThroughGrpc() { ABSL_ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN(); }
  ~HandoverThroughGrpc() { ABSL_ANNOTATE_IGNORE_READS_AND_WRITES_END(); }
  HandoverThroughGrpc(const HandoverThroughGrpc&) = delete;
  HandoverThroughGrpc& operator=(const HandoverThroughGrpc&) = delete;
};

// The next event; false once the queue is shut down and drained.
inline bool NextEvent(grpc::CompletionQueue* queue, void** tag, bool* ok) {
  const HandoverThroughGrpc handover;
  return queue->Next(tag, ok);
}

// Serves a queue until it is shut down and drained.
inline void ServeQueue(grpc::CompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (NextEvent(queue, &tag, &ok)) static_cast<Tag*>(tag)->Fire(ok);
}

}  // namespace cvae

#endif  // CVAE_SERVER_TAG_H_
