#include "server/unread.h"

#include "absl/strings/str_cat.h"
#include "server/errors.h"

namespace cvae {
namespace {

// Reading takes a client that reads at all less than this.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);

}  // namespace

absl::Status UnreadAnswers::Admit(Connection connection) const {
  MutexLock lock(mutex_);
  const auto found = by_connection_.find(connection);
  const uint64_t unread = found == by_connection_.end() ? 0 : found->second;
  if (unread < limits_.connection_bytes && (unread == 0 || total_ < limits_.total_bytes)) return absl::OkStatus();
  return RetryLater(
      absl::StrCat("this connection has ", unread, " bytes of answers that it has not read, all together ", total_,
                   "; at most ", limits_.connection_bytes, " and ", limits_.total_bytes, " may wait: read them first"),
      kRetryDelay);
}

void UnreadAnswers::Add(Connection connection, uint64_t bytes) {
  if (bytes == 0) return;
  MutexLock lock(mutex_);
  total_ += bytes;
  by_connection_[connection] += bytes;
}

void UnreadAnswers::Remove(Connection connection, uint64_t bytes) {
  if (bytes == 0) return;
  MutexLock lock(mutex_);
  total_ -= bytes;
  const auto found = by_connection_.find(connection);
  found->second -= bytes;
  if (found->second == 0) by_connection_.erase(found);
}

uint64_t UnreadAnswers::total_bytes() const {
  MutexLock lock(mutex_);
  return total_;
}

}  // namespace cvae
