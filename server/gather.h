// A piece of a job copied into a lane's staging memory, once, each value checked on the way.

#ifndef CVAE_SERVER_GATHER_H_
#define CVAE_SERVER_GATHER_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/engine.h"
#include "server/batcher.h"

namespace cvae {

// Hands out aligned stretches of a session's staging memory, front to back. One thread.
class StagingArena {
 public:
  explicit StagingArena(absl::Span<std::byte> memory) : memory_(memory) {}

  // `count` elements, aligned to kStagingAlign. StagingBytes guarantees that a batch fits.
  template <class T>
  T* Take(size_t count) {
    T* start = reinterpret_cast<T*>(memory_.data() + used_);
    used_ += (count * sizeof(T) + kStagingAlign - 1) / kStagingAlign * kStagingAlign;
    return start;
  }

  void Clear() { used_ = 0; }
  size_t used() const { return used_; }
  // Gives back everything taken since used() was `mark`.
  void Rewind(size_t mark) { used_ = mark; }

 private:
  absl::Span<std::byte> memory_;
  size_t used_ = 0;
};

// Copies the piece's inputs into `arena` and points a span at them and at the piece's place in the job's outputs.
// INVALID_ARGUMENT, naming row and column: a value that the request may not have; the arena is then as before.
absl::StatusOr<RowSpan> Gather(const Piece& piece, const Model& model, StagingArena* arena);

}  // namespace cvae

#endif  // CVAE_SERVER_GATHER_H_
