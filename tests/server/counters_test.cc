#include "server/counters.h"

#include "gmock/gmock.h"

namespace cvae {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Histogram, AQuantileIsTheUpperEndOfItsBucket) {
  Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0u);
  for (uint64_t value = 1; value <= 100; ++value) histogram.Add(value);
  EXPECT_EQ(histogram.Quantile(0), 0u);
  EXPECT_EQ(histogram.Quantile(0.01), 1u);
  EXPECT_EQ(histogram.Quantile(0.5), 63u);  // 50 is one of 32 to 63
  EXPECT_EQ(histogram.Quantile(1), 100u);
  EXPECT_EQ(histogram.count, 100u);
  EXPECT_EQ(histogram.sum, 5050u);
  histogram.Add(UINT64_MAX);
  EXPECT_EQ(histogram.Quantile(1), UINT64_MAX);
}

TEST(Counts, ADescriptionNamesWhatWasCalledAndEveryModel) {
  MethodCounters encode, loss;
  encode.CountCall(absl::StatusCode::kOk);
  encode.CountCall(absl::StatusCode::kOk);
  encode.CountCall(absl::StatusCode::kNotFound);
  encode.CountRows(70);
  Counts counts;
  counts.methods = {encode.Copy("Encode"), loss.Copy("Loss")};
  counts.models.push_back({"digits", {}});
  counts.models[0].queue.refused_time = 17;
  EXPECT_THAT(Describe(counts), ElementsAre("Encode: OK 2 NOT_FOUND 1, rows 70",
                                            AllOf(HasSubstr("model digits:"), HasSubstr("too little time 17")),
                                            "in flight 0, unread bytes 0"));
}

}  // namespace
}  // namespace cvae
