#include "server/batcher.h"

namespace cvae {
namespace {

// Outside every lock: settling finishes calls.
void Settle(const std::vector<Scheduler::Dropped>& dropped) {
  for (const Scheduler::Dropped& one : dropped) one.job->Settle(one.rows, one.why);
}

absl::Status ShuttingDown() { return absl::UnavailableError("the server is shutting down"); }

}  // namespace

Batcher::~Batcher() { FailAll(ShuttingDown()); }

absl::Status Batcher::Submit(Job* job) {
  MutexLock lock(mutex_);
  if (!closed_.ok()) return closed_;
  if (absl::Status refused = scheduler_.Add(job, options_.now()); !refused.ok()) return refused;
  Wake();
  return absl::OkStatus();
}

void Batcher::Wake() {
  if (Over()) {
    work_.NotifyAll();
    alarm_.NotifyAll();
  }
  if (scheduler_.empty()) return;
  if (idle_lanes_ > 0) work_.NotifyOne();
  // An idle lane takes what waits before it can expire, unless it lingers.
  if ((idle_lanes_ == 0 || options_.scheduler.linger.count() > 0) && scheduler_.next_expiry() < watched_until_) {
    alarm_.NotifyOne();
  }
}

void Batcher::Withdraw(Job* job, const absl::Status& why, uint64_t pulled) {
  {
    MutexLock lock(mutex_);
    pulled += scheduler_.Remove(job);
    if (pulled > 0) scheduler_.CountGivenUp(job, why);
    Wake();
  }
  if (pulled > 0) job->Settle(pulled, why);
}

std::vector<Piece> Batcher::Pull() {
  std::vector<Piece> batch;
  bool over = false;
  while (batch.empty() && !over) {
    std::vector<Scheduler::Dropped> expired;
    {
      MutexLock lock(mutex_);
      ++idle_lanes_;
      while (closed_.ok() && options_.now() < scheduler_.ready_at()) work_.WaitUntil(mutex_, scheduler_.ready_at());
      --idle_lanes_;
      batch = scheduler_.Take(options_.now(), &expired);
      over = Over();
      Wake();
    }
    Settle(expired);
  }
  return batch;
}

absl::Status Batcher::WorthLaunching(const Job& job) const {
  if (job.failed()) return absl::AbortedError("another piece of the call failed");  // its error is the call's
  if (options_.now() >= job.deadline) return absl::DeadlineExceededError("the deadline passed before the launch");
  if (job.cancelled()) return absl::CancelledError("the client gave the call up");
  return absl::OkStatus();
}

void Batcher::BatchTook(std::chrono::nanoseconds time, std::chrono::nanoseconds computing) {
  MutexLock lock(mutex_);
  scheduler_.BatchTook(time, computing);
}

void Batcher::Watch() {
  bool over = false;
  while (!over) {
    std::vector<Scheduler::Dropped> expired;
    {
      MutexLock lock(mutex_);
      while (!Over() && options_.now() < scheduler_.next_expiry()) {
        watched_until_ = scheduler_.next_expiry();
        alarm_.WaitUntil(mutex_, watched_until_);
      }
      watched_until_ = Job::TimePoint::min();
      expired = scheduler_.Expire(options_.now());
      over = Over();
      Wake();
    }
    Settle(expired);
  }
}

void Batcher::Close(const absl::Status& why) {
  if (closed_.ok()) closed_ = why;
  work_.NotifyAll();
  alarm_.NotifyAll();
}

void Batcher::Stop() {
  MutexLock lock(mutex_);
  Close(ShuttingDown());
}

void Batcher::FailAll(const absl::Status& error) {
  std::vector<Scheduler::Dropped> dropped;
  {
    MutexLock lock(mutex_);
    dropped = scheduler_.RemoveAll(error);
    Close(error);
  }
  Settle(dropped);
}

QueueCounts Batcher::counts() const {
  MutexLock lock(mutex_);
  return scheduler_.counts();
}

}  // namespace cvae
