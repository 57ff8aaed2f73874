// Latencies counted in log-linear buckets: constant memory, whatever their number, and a stated error.

#ifndef CVAE_CLIENT_BENCH_LATENCY_HISTOGRAM_H_
#define CVAE_CLIENT_BENCH_LATENCY_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cvae {

// Counts whole numbers from 0 to 2^64 - 1, of nanoseconds as a rule. Each power of two is cut into kSteps buckets of
// equal width, and values below kSteps have a bucket each, so that a bucket is never wider than 1 / kSteps of the
// values in it. Not thread-safe: a thread has its own, and they are merged.
class LatencyHistogram {
 public:
  static constexpr int kStepBits = 7;
  static constexpr uint64_t kSteps = uint64_t{1} << kStepBits;
  // Quantile() is too large by at most this fraction of the true value, and never too small.
  static constexpr double kRelativeError = 1.0 / kSteps;

  void Add(uint64_t value);
  void Merge(const LatencyHistogram& other);

  // The value that this fraction of all, in [0, 1], are at most: the largest that its bucket can hold, but no more than
  // max(). 0 if there are none.
  uint64_t Quantile(double fraction) const;

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  // Exact, not of buckets. 0 if there are none.
  double Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  // The bucket that counts `value`, and the largest value that a bucket counts.
  static size_t BucketOf(uint64_t value);
  static uint64_t LargestIn(size_t bucket);

 private:
  std::vector<uint64_t> buckets_;  // as many as the largest value needs
  uint64_t count_ = 0;
  uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace cvae

#endif  // CVAE_CLIENT_BENCH_LATENCY_HISTOGRAM_H_
