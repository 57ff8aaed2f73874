// What the server counts, as plain data. It knows nothing of how it is shown. Each struct belongs to whoever counts,
// and is guarded by the lock that it holds anyway; Server::counts() copies them all.

#ifndef CVAE_SERVER_COUNTERS_H_
#define CVAE_SERVER_COUNTERS_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cvae {

inline constexpr int kStatusCodes = 17;  // OK to UNAUTHENTICATED

// How many values there were of each size: bucket i holds those of i binary digits, from 2^(i-1) to 2^i - 1.
struct Histogram {
  std::array<uint64_t, 65> buckets{};
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t max = 0;

  void Add(uint64_t value) {
    ++buckets[std::bit_width(value)];
    ++count;
    sum += value;
    max = value > max ? value : max;
  }

  // No smaller than the value that this fraction of all are at most, and less than twice as large. 0: there are none.
  uint64_t Quantile(double fraction) const;
};

// Of one model's queue and lanes. Every admitted job is answered or, once, counted among those given up.
struct QueueCounts {
  uint64_t admitted = 0;  // jobs

  // Refused at the door.
  uint64_t refused_full = 0;
  uint64_t refused_client_full = 0;  // the queue was not, its client's part was
  uint64_t refused_time = 0;         // predicted to take longer than they had
  uint64_t refused_expired = 0;      // had no time left

  // Given up: all of their rows or the last of them were not computed.
  uint64_t expired = 0;
  uint64_t queued_too_long = 0;
  uint64_t cancelled = 0;
  uint64_t failed = 0;  // a bad value, a device fault, the end of a drain

  uint64_t lane_busy_us = 0;  // all lanes, from taking a batch to its last answer
  Histogram batch_rows;
  Histogram queue_us;     // of a job, until its first rows left
  Histogram compute_us;   // of a batch, in the engine
  Histogram overstay_us;  // of an expired job, until it was let go

  // Now.
  uint64_t jobs = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

// Of one method.
struct MethodCounts {
  std::string name;
  std::array<uint64_t, kStatusCodes> calls_of_code{};  // answered
  uint64_t rows = 0;                                   // computed, of calls answered with OK
};

// Of one method, while it is served. Thread-safe.
class MethodCounters {
 public:
  void CountCall(absl::StatusCode code) { Add(1, &calls_of_code_[static_cast<int>(code)]); }
  void CountRows(uint64_t rows) { Add(rows, &rows_); }
  MethodCounts Copy(absl::string_view name) const;

 private:
  using Counter = std::atomic<uint64_t>;
  static void Add(uint64_t value, Counter* counter) { counter->fetch_add(value, std::memory_order_relaxed); }

  std::array<Counter, kStatusCodes> calls_of_code_{};
  Counter rows_{0};
};

// Everything at one moment, more or less: what different locks guard is copied one after the other.
struct Counts {
  struct Model {
    std::string name;
    QueueCounts queue;
  };
  std::vector<MethodCounts> methods;
  std::vector<Model> models;
  uint64_t in_flight = 0;  // calls accepted and not answered
  uint64_t unread_bytes = 0;
};

// A line for each method that was called, and for each model, for a log.
std::vector<std::string> Describe(const Counts& counts);

}  // namespace cvae

#endif  // CVAE_SERVER_COUNTERS_H_
