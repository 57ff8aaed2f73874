#include "server/job.h"

namespace cvae {

void Job::Settle(uint64_t count, const absl::Status& status) {
  absl::Status result;
  {
    MutexLock lock(mutex_);
    if (!status.ok() && error_.ok()) {
      error_ = status;
      failed_.store(true, std::memory_order_relaxed);
    }
    settled_ += count;
    if (settled_ < computed_rows()) return;
    result = error_;
  }
  // Moved out first: it lives in the job that it may delete.
  const std::function<void(absl::Status)> finish_call = std::move(finish);
  finish_call(std::move(result));
}

const RowSpan& Job::Outputs() {
  MutexLock lock(mutex_);
  if (!allocated_) {
    Allocate(&outputs_);
    allocated_ = true;
  }
  return outputs_;
}

}  // namespace cvae
