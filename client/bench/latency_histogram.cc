#include "client/bench/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cvae {

// A value of kStepBits + 1 + shift binary digits: its first kStepBits + 1 digits, the highest of them 1, say the step.
size_t LatencyHistogram::BucketOf(uint64_t value) {
  if (value < kSteps) return value;
  const int shift = std::bit_width(value) - (kStepBits + 1);
  return kSteps * shift + (value >> shift);
}

uint64_t LatencyHistogram::LargestIn(size_t bucket) {
  if (bucket < kSteps) return bucket;
  const uint64_t shift = bucket / kSteps - 1;
  const uint64_t step = bucket - kSteps * shift;
  return (step << shift) + ((uint64_t{1} << shift) - 1);
}

void LatencyHistogram::Add(uint64_t value) {
  const size_t bucket = BucketOf(value);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  buckets_.resize(std::max(buckets_.size(), other.buckets_.size()));
  for (size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

uint64_t LatencyHistogram::Quantile(double fraction) const {
  const double wanted = std::ceil(fraction * static_cast<double>(count_));
  uint64_t left = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (buckets_[bucket] >= left) return std::min(max_, LargestIn(bucket));
    left -= buckets_[bucket];
  }
  return max_;
}

}  // namespace cvae
