// What `cvae bench` measures with: the histogram's stated error, and a schedule that no stall moves.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "client/bench/arrivals.h"
#include "client/bench/latency_histogram.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(LatencyHistogramTest, BucketsFollowEachOtherWithoutAGap) {
  const size_t buckets = LatencyHistogram::BucketOf(kMax) + 1;
  for (size_t bucket = 0; bucket + 1 < buckets; ++bucket) {
    const uint64_t largest = LatencyHistogram::LargestIn(bucket);
    ASSERT_EQ(LatencyHistogram::BucketOf(largest), bucket);
    ASSERT_EQ(LatencyHistogram::BucketOf(largest + 1), bucket + 1);
  }
  EXPECT_EQ(LatencyHistogram::LargestIn(buckets - 1), kMax);
}

TEST(LatencyHistogramTest, QuantilesAreWithinTheStatedErrorOfTheSortedValues) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency(12, 2);
  std::vector<uint64_t> values;
  LatencyHistogram halves[2];
  for (int i = 0; i < 20'001; ++i) {
    values.push_back(static_cast<uint64_t>(latency(random)));
    halves[i % 2].Add(values.back());
  }
  LatencyHistogram all;
  for (const LatencyHistogram& half : halves) all.Merge(half);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(all.count(), values.size());
  EXPECT_EQ(all.max(), values.back());
  for (const double fraction : {0.0, 0.001, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const double rank = std::ceil(fraction * static_cast<double>(values.size()));
    const double exact = static_cast<double>(values[std::max<size_t>(1, static_cast<size_t>(rank)) - 1]);
    const double got = static_cast<double>(all.Quantile(fraction));
    EXPECT_GE(got, exact) << fraction;
    EXPECT_LE(got, exact * (1 + LatencyHistogram::kRelativeError)) << fraction;
  }
}

TEST(LatencyHistogramTest, SmallValuesAreExact) {
  LatencyHistogram histogram;
  for (uint64_t value = 0; value < LatencyHistogram::kSteps; ++value) histogram.Add(value);
  EXPECT_EQ(histogram.Quantile(0.5), LatencyHistogram::kSteps / 2 - 1);
  EXPECT_EQ(histogram.Mean(), (LatencyHistogram::kSteps - 1) / 2.0);
}

TEST(LatencyHistogramTest, NothingWasCounted) {
  LatencyHistogram histogram;
  histogram.Merge(LatencyHistogram());
  EXPECT_EQ(histogram.Quantile(0.99), 0u);
  EXPECT_EQ(histogram.Mean(), 0.0);
}

using TimePoint = Arrivals::TimePoint;

// All that are due until `end`, for a sender that looks at these times.
std::vector<TimePoint> TakeAll(Arrivals arrivals, const std::vector<TimePoint>& looks) {
  std::vector<TimePoint> taken;
  TimePoint due;
  for (const TimePoint now : looks) {
    while (arrivals.Take(now, &due)) taken.push_back(due);
  }
  return taken;
}

TEST(ArrivalsTest, AStallMovesNoCall) {
  const TimePoint start{};
  const Arrivals arrivals(start, 1000, 7);
  std::vector<TimePoint> often;
  for (int ms = 0; ms <= 2000; ++ms) often.push_back(start + std::chrono::milliseconds(ms));
  const std::vector<TimePoint> on_time = TakeAll(arrivals, often);
  EXPECT_EQ(TakeAll(arrivals, {often.back()}), on_time);
  EXPECT_TRUE(std::is_sorted(on_time.begin(), on_time.end()));
  EXPECT_GT(on_time.front(), start);
  EXPECT_LE(on_time.back(), often.back());
}

TEST(ArrivalsTest, NoneIsTakenBeforeItIsDue) {
  Arrivals arrivals(TimePoint{}, 1000, 7);
  const TimePoint due = arrivals.due();
  TimePoint was_due;
  EXPECT_FALSE(arrivals.Take(due - TimePoint::duration(1), &was_due));
  EXPECT_TRUE(arrivals.Take(due, &was_due));
  EXPECT_EQ(was_due, due);
  EXPECT_GT(arrivals.due(), due);
}

// Their number varies by the root of it: six of these are out of the question.
TEST(ArrivalsTest, RateAndSpreadAreThoseOfAPoissonProcess) {
  constexpr int kSeconds = 100;
  constexpr double kRate = 1000;
  const TimePoint end = TimePoint{} + std::chrono::seconds(kSeconds);
  const std::vector<TimePoint> taken = TakeAll(Arrivals(TimePoint{}, kRate, 3), {end});
  EXPECT_NEAR(static_cast<double>(taken.size()), kRate * kSeconds, 6 * std::sqrt(kRate * kSeconds));
  double squares = 0;
  for (size_t i = 1; i < taken.size(); ++i) {
    const double gap = std::chrono::duration<double>(taken[i] - taken[i - 1]).count() * kRate;
    squares += (gap - 1) * (gap - 1);
  }
  EXPECT_NEAR(squares / static_cast<double>(taken.size()), 1, 0.1);  // gaps deviate by as much as their mean
}

TEST(ArrivalsTest, AnotherSeedIsAnotherSchedule) {
  const TimePoint end = TimePoint{} + std::chrono::seconds(1);
  EXPECT_NE(TakeAll(Arrivals(TimePoint{}, 1000, 1), {end}), TakeAll(Arrivals(TimePoint{}, 1000, 2), {end}));
}

}  // namespace
}  // namespace cvae
