// The queue between calls and lanes of one model: a scheduler between threads.
//
// An idle lane takes everything that waits, up to the row cap of a batch, at once: while one batch runs, requests
// gather, so batches grow with the load by themselves and no timer is needed. server/scheduler.h says what leaves first
// when more waits than a batch holds, what is refused, and how long a job waits at the longest.

#ifndef CVAE_SERVER_BATCHER_H_
#define CVAE_SERVER_BATCHER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "server/job.h"
#include "server/scheduler.h"

namespace cvae {

// Thread-safe. Lifecycle: open -> closed (by Stop or FailAll); never back.
class Batcher {
 public:
  struct Options {
    Scheduler::Options scheduler;
    std::function<Job::TimePoint()> now = std::chrono::steady_clock::now;
  };

  explicit Batcher(Options options) : options_(std::move(options)), scheduler_(options_.scheduler) {}
  // REQUIRES: closed, and every thread has left Pull and Watch.
  ~Batcher();

  // Hands the job over; never blocks. The errors of Scheduler::Add, or that with which the batcher was closed. On an
  // error the caller keeps the job and must finish it; on OK it will be finished exactly once.
  absl::Status Submit(Job* job);

  // Gives a job up: settles with `why` what waits of it, if anything does, and `pulled` rows that the caller has pulled
  // and not computed. Any thread that knows the job to be alive.
  void Withdraw(Job* job, const absl::Status& why, uint64_t pulled = 0);

  // --- A lane's.

  // Blocks until work waits; then takes as much of it as one batch holds. Empty: closed, and nothing is left.
  std::vector<Piece> Pull();

  // OK if the job's rows are still worth launching: it has not failed, expired or been cancelled since.
  absl::Status WorthLaunching(const Job& job) const;

  // As Scheduler::BatchTook.
  void BatchTook(std::chrono::nanoseconds time, std::chrono::nanoseconds computing);

  // --- A thread of its own.

  // Drops what expires while every lane is busy, within a millisecond or so. Returns once closed with nothing left.
  void Watch();

  // --- The end.

  // Refuses new jobs from now on; those accepted are still pulled.
  void Stop();

  // Settles everything that waits with this error, and refuses new jobs with it.
  void FailAll(const absl::Status& error);

  QueueCounts counts() const;

 private:
  bool Over() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !closed_.ok() && scheduler_.empty(); }
  // Wakes who is needed for what waits: a lane, or the watch if none is idle. All, once it is over.
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Close(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  CondVar work_;   // lanes wait on it
  CondVar alarm_;  // the watch waits on it
  Scheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);  // OK: open; else what new jobs are refused with
  int idle_lanes_ ABSL_GUARDED_BY(mutex_) = 0;
  Job::TimePoint watched_until_ ABSL_GUARDED_BY(mutex_) = Job::TimePoint::min();  // when the watch wakes by itself
};

}  // namespace cvae

#endif  // CVAE_SERVER_BATCHER_H_
