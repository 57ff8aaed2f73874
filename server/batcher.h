// The queue between calls and lanes of one model.
//
// An idle lane takes everything that waits, up to the row cap of a batch, at once: while one batch runs, requests
// gather, so batches grow with the load by themselves and no timer is needed. A job larger than a batch goes out in
// pieces, over several batches and lanes.
//
// The longest time in queue of an accepted job is (rows before it / max_batch_rows + 1) batch times / lanes, and
// rows before it <= max_queue_rows.

#ifndef CVAE_SERVER_BATCHER_H_
#define CVAE_SERVER_BATCHER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "server/job.h"

namespace cvae {

// Computed rows [begin, begin + count) of a job.
struct Piece {
  Job* job = nullptr;
  uint64_t begin = 0;
  uint32_t count = 0;
};

// Thread-safe.
class Batcher {
 public:
  struct Options {
    int max_batch_rows = 4096;
    uint64_t max_queue_rows = 1 << 21;   // >= the most rows of one job
    uint64_t max_queue_bytes = 1 << 30;  // >= the most bytes of one job
    std::function<Job::TimePoint()> now = std::chrono::steady_clock::now;
  };

  explicit Batcher(Options options) : options_(std::move(options)) {}
  // REQUIRES: stopped, and every lane has left Pull.
  ~Batcher();

  // Hands the job over; never blocks. RESOURCE_EXHAUSTED with RetryInfo: the queue is full. UNAVAILABLE: stopped. On an
  // error the caller keeps the job and must finish it; on OK it will be finished exactly once.
  absl::Status Submit(Job* job);

  // Blocks until work waits; then takes as much of it as one batch holds. Jobs that are cancelled, expired or failed
  // are settled here and never launched. Empty: stopped, and nothing is left.
  std::vector<Piece> Pull();

  // Refuses new jobs from now on; those accepted are still pulled.
  void Stop();

  // Settles everything that waits with this error.
  void FailAll(const absl::Status& error);

  struct Depth {
    uint64_t jobs = 0;
    uint64_t rows = 0;
    uint64_t bytes = 0;
  };
  Depth depth() const;

 private:
  struct Waiting {
    Job* job;
    uint64_t next;  // first computed row that was not pulled yet
  };
  struct Dead {
    Job* job;
    uint64_t rows;
    absl::Status why;
  };

  // OK if the job's rows are worth launching.
  absl::Status WorthLaunching(const Job& job, Job::TimePoint now) const;
  // Takes up to a batch of rows off the queue; what is not worth launching goes to `dead`.
  std::vector<Piece> Take(std::vector<Dead>* dead) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PopFront(uint64_t rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  CondVar work_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Waiting> queue_ ABSL_GUARDED_BY(mutex_);
  uint64_t queued_rows_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cvae

#endif  // CVAE_SERVER_BATCHER_H_
