// Bytes of answers that clients have not taken yet. gRPC holds an answer until its client reads it, so a client that
// never reads must not be let to pile them up: beyond a bound its connection gets no new calls in.

#ifndef CVAE_SERVER_UNREAD_H_
#define CVAE_SERVER_UNREAD_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/mutex.h"

namespace cvae {

// A connection, as an address that no other has while any of its calls lives; never followed.
using Connection = const void*;

// Thread-safe.
class UnreadAnswers {
 public:
  struct Limits {
    uint64_t connection_bytes = 256ull << 20;
    uint64_t total_bytes = 1ull << 30;  // beyond it a connection with anything unread gets no new call in
  };

  explicit UnreadAnswers(Limits limits) : limits_(limits) {}

  // RESOURCE_EXHAUSTED with RetryInfo if `connection` must read its answers first.
  absl::Status Admit(Connection connection) const;

  void Add(Connection connection, uint64_t bytes);
  void Remove(Connection connection, uint64_t bytes);

  uint64_t total_bytes() const;

 private:
  const Limits limits_;
  mutable Mutex mutex_;
  uint64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<Connection, uint64_t> by_connection_ ABSL_GUARDED_BY(mutex_);  // only those with something unread
};

}  // namespace cvae

#endif  // CVAE_SERVER_UNREAD_H_
