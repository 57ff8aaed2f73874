// A validated request on its way through a lane: its inputs as views of the request message, and where its answer goes.
//
// Life: made and validated on a completion-queue thread (request.h), handed to the batcher, computed in one or several
// pieces by lane threads, and finished exactly once by whoever settles its last row.

#ifndef CVAE_SERVER_JOB_H_
#define CVAE_SERVER_JOB_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "kernels/engine.h"

namespace cvae {

// float32 values of a matrix of a request, row-major, little-endian, possibly unaligned; the request owns the bytes.
struct MatrixView {
  std::string field;  // path in the request, for messages
  const char* bytes = nullptr;
  uint32_t rows = 0;
  uint32_t cols = 0;

  explicit operator bool() const { return bytes != nullptr; }
};

// One part of a condition: an id a row, or columns of a matrix.
struct PartView {
  std::vector<int32_t> ids;  // [B], in range; empty: columns
  MatrixView values;         // [B, cols] with this part's columns from `first_column` on
  uint32_t first_column = 0;
};

// Every part of the model, in its order. Empty: the model has none, or the same as the encoder's.
using ConditionView = std::vector<PartView>;

// How urgent a job is among those of its client.
enum class Priority { kHigh, kNormal, kLow };

class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  using TimePoint = std::chrono::steady_clock::time_point;

  // --- Set before it is submitted, constant afterwards.
  Pass pass = Pass::kForward;
  uint64_t rows = 0;     // B
  uint32_t samples = 1;  // S
  uint64_t first_row = 0;
  Noise noise = Noise::kMean;
  uint64_t seed = 0;
  float temperature = 1;
  bool check_finite = true;  // a NaN or an infinity of the request is an error
  bool check_unit = false;   // the reconstruction target must be within [0, 1], a little more allowed (bce)
  MatrixView x;              // [B, D]
  MatrixView eps;            // [B * S, Z]
  MatrixView target;         // [B, O]
  ConditionView encode_condition;
  ConditionView decode_condition;
  TimePoint deadline = TimePoint::max();
  uint64_t client = 0;  // whoever sent it, as a number; clients share batches evenly
  Priority priority = Priority::kNormal;
  uint64_t bytes = 0;                        // of memory that it holds: request and answer
  std::function<void(absl::Status)> finish;  // called exactly once; may delete the job

  uint64_t computed_rows() const { return rows * samples; }

  // --- The scheduler's.

  struct Ticket {
    bool waiting = false;
    bool given_up = false;  // and counted so
    uint64_t next = 0;      // first computed row that has not left the queue
    uint64_t number = 0;    // in order of arrival
    int rank = 0;
    TimePoint arrived;
    TimePoint due;     // orders the jobs of a client
    TimePoint expiry;  // when it is to be dropped; max: never
  };
  Ticket ticket;

  // --- Any thread.

  // Marks the call as given up by its client; what is not launched yet will not be.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // An error was recorded: rows not launched yet need not be.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // Settles `count` computed rows, computed or given up with an error. The first error is the call's. Whoever settles
  // the last row finishes the job, which may then be gone.
  void Settle(uint64_t count, const absl::Status& status);

  // --- Lanes.

  // The arrays of the whole answer, allocated on the first call. Null: not wanted. As the outputs of a RowSpan that
  // begins at computed row 0.
  const RowSpan& Outputs();

 protected:
  // Allocates the answer's arrays and sets the output pointers of `outputs`. Called once.
  virtual void Allocate(RowSpan* outputs) = 0;

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> failed_{false};

  Mutex mutex_;
  uint64_t settled_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  bool allocated_ ABSL_GUARDED_BY(mutex_) = false;
  RowSpan outputs_;  // written under mutex_ once, then constant
};

}  // namespace cvae

#endif  // CVAE_SERVER_JOB_H_
