#include "server/batcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors.h"

namespace cvae {
namespace {

// A client that retries at once meets the same full queue; a batch takes milliseconds.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(20);

}  // namespace

Batcher::~Batcher() { FailAll(absl::UnavailableError("the server is shutting down")); }

absl::Status Batcher::Submit(Job* job) {
  const uint64_t rows = job->computed_rows();
  {
    MutexLock lock(mutex_);
    if (stopped_) return absl::UnavailableError("the server is shutting down");
    if (queued_rows_ + rows > options_.max_queue_rows || queued_bytes_ + job->bytes > options_.max_queue_bytes) {
      return RetryLater(absl::StrCat("the queue is full: ", queued_rows_, " rows and ", queued_bytes_,
                                     " bytes wait, this call brings ", rows, " and ", job->bytes),
                        kRetryDelay);
    }
    queue_.push_back({job, 0});
    queued_rows_ += rows;
    queued_bytes_ += job->bytes;
  }
  work_.NotifyOne();
  return absl::OkStatus();
}

std::vector<Piece> Batcher::Pull() {
  std::vector<Piece> batch;
  std::vector<Dead> dead;
  bool more = false;
  bool stopped = false;
  while (batch.empty() && !stopped) {
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopped_) work_.Wait(mutex_);
      stopped = stopped_ && queue_.empty();
      batch = Take(&dead);
      more = !queue_.empty();
    }
    // Outside the lock: settling finishes calls.
    for (const Dead& gone : dead) gone.job->Settle(gone.rows, gone.why);
    dead.clear();
  }
  if (more) work_.NotifyOne();
  return batch;
}

std::vector<Piece> Batcher::Take(std::vector<Dead>* dead) {
  std::vector<Piece> batch;
  const Job::TimePoint now = options_.now();
  uint64_t room = options_.max_batch_rows;
  while (room > 0 && !queue_.empty()) {
    Waiting& front = queue_.front();
    const uint64_t left = front.job->computed_rows() - front.next;
    if (absl::Status why = WorthLaunching(*front.job, now); !why.ok()) {
      dead->push_back({front.job, left, std::move(why)});
      PopFront(left);
      continue;
    }
    const uint64_t count = std::min(room, left);
    batch.push_back({front.job, front.next, static_cast<uint32_t>(count)});
    room -= count;
    front.next += count;
    if (count == left) {
      PopFront(count);
    } else {
      queued_rows_ -= count;
    }
  }
  return batch;
}

void Batcher::PopFront(uint64_t rows) {
  queued_rows_ -= rows;
  queued_bytes_ -= queue_.front().job->bytes;
  queue_.pop_front();
}

absl::Status Batcher::WorthLaunching(const Job& job, Job::TimePoint now) const {
  if (job.failed()) return absl::AbortedError("another piece of the call failed");  // its error is the call's
  if (job.cancelled()) return absl::CancelledError("the client gave the call up");
  if (now >= job.deadline) return absl::DeadlineExceededError("the deadline passed while the call was queued");
  return absl::OkStatus();
}

void Batcher::Stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  work_.NotifyAll();
}

void Batcher::FailAll(const absl::Status& error) {
  std::deque<Waiting> waiting;
  {
    MutexLock lock(mutex_);
    waiting.swap(queue_);
    queued_rows_ = 0;
    queued_bytes_ = 0;
  }
  for (const Waiting& entry : waiting) entry.job->Settle(entry.job->computed_rows() - entry.next, error);
}

Batcher::Depth Batcher::depth() const {
  MutexLock lock(mutex_);
  return {queue_.size(), queued_rows_, queued_bytes_};
}

}  // namespace cvae
