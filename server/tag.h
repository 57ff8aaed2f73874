// What a completion queue hands back: an event, and what to do when it comes.

#ifndef CVAE_SERVER_TAG_H_
#define CVAE_SERVER_TAG_H_

#include <functional>
#include <utility>

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

// Serves a queue until it is shut down and drained.
inline void ServeQueue(grpc::CompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Tag*>(tag)->Fire(ok);
}

}  // namespace cvae

#endif  // CVAE_SERVER_TAG_H_
