#include "kernels/losses.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"

namespace cvae {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kOddNaN = std::bit_cast<float>(0xffc12345u);  // not as answers store it

uint64_t BitsOf(double x) { return std::bit_cast<uint64_t>(x); }
uint32_t BitsOf(float x) { return std::bit_cast<uint32_t>(x); }

TEST(FoldRows, IsTheMeanOverRows) {
  const LossTerms terms = FoldRows(LossSpec(), {1, 2, 6}, {0.5f, 0.25f, 0.75f});
  EXPECT_EQ(terms.recon_loss, 3);
  EXPECT_EQ(terms.kl_loss, 0.5);
  EXPECT_EQ(terms.loss, 3.5);
}

TEST(FoldRows, IsTheSumWhereTheModelSaysSo) {
  LossSpec spec;
  spec.reduce = Reduce::kSum;
  const LossTerms terms = FoldRows(spec, {1, 2, 6}, {0.5f, 0.25f, 0.75f});
  EXPECT_EQ(terms.recon_loss, 9);
  EXPECT_EQ(terms.kl_loss, 1.5);
  EXPECT_EQ(terms.loss, 10.5);
}

TEST(FoldRows, WeighsTheLossAlone) {
  LossSpec spec;
  spec.recon_weight = 0.5;
  spec.kl_weight = 4;
  const LossTerms terms = FoldRows(spec, {2, 4}, {1, 3});
  EXPECT_EQ(terms.recon_loss, 3);
  EXPECT_EQ(terms.kl_loss, 2);
  EXPECT_EQ(terms.loss, 9.5);
}

TEST(FoldRows, SumsInDouble) {  // as floats, each 1 would be lost
  LossSpec spec;
  spec.reduce = Reduce::kSum;
  EXPECT_EQ(FoldRows(spec, {0x1p24f, 1, 1}, {0, 0, 0}).recon_loss, 0x1p24 + 2);
}

TEST(FoldRows, SumsInAscendingOrder) {  // from the other end the ones are not lost
  LossSpec spec;
  spec.reduce = Reduce::kSum;
  const LossTerms terms = FoldRows(spec, {0x1p53f, 1, 1}, {1, 1, 0x1p53f});
  EXPECT_EQ(terms.recon_loss, 0x1p53);
  EXPECT_EQ(terms.kl_loss, 0x1p53 + 2);
}

TEST(FoldRows, StoresNaNInOneWay) {
  const LossTerms terms = FoldRows(LossSpec(), {1, kOddNaN}, {kInfinity, -kInfinity});
  EXPECT_EQ(BitsOf(terms.recon_loss), 0x7ff8000000000000u);
  EXPECT_EQ(BitsOf(terms.kl_loss), 0x7ff8000000000000u);
  EXPECT_EQ(BitsOf(terms.loss), 0x7ff8000000000000u);
}

TEST(FoldRows, ANonFiniteTermStaysInItsSum) {
  const LossTerms terms = FoldRows(LossSpec(), {1, kInfinity}, {1, 3});
  EXPECT_EQ(terms.recon_loss, kInfinity);
  EXPECT_EQ(terms.kl_loss, 2);
  EXPECT_EQ(terms.loss, kInfinity);
}

std::vector<float> Means(const std::vector<float>& terms, uint32_t samples, int cols) {
  std::vector<float> means(terms.size() / samples, -1);
  MeanOverSamples(terms, samples, cols, absl::MakeSpan(means));
  return means;
}

TEST(MeanOverSamples, IsByRowAndColumn) {
  // Two rows, three samples each, two columns.
  EXPECT_THAT(Means({1, 10, 2, 20, 6, 60, 0, -1, 0, -2, 3, -6}, 3, 2), testing::ElementsAre(3, 30, 1, -3));
}

TEST(MeanOverSamples, SumsInDoubleAndRoundsOnce) {
  EXPECT_THAT(Means({0x1p24f, 1, 1, 2}, 4, 1), testing::ElementsAre(0x1p22f + 1));
  EXPECT_THAT(Means({3e38f, 3e38f}, 2, 1), testing::ElementsAre(3e38f));  // the sum is no float
  EXPECT_THAT(Means({1, 1, 2}, 3, 1), testing::ElementsAre(static_cast<float>(4.0 / 3)));
}

TEST(MeanOverSamples, SumsInAscendingOrder) {
  EXPECT_THAT(Means({0x1p53f, 1, 1, -0x1p53f}, 4, 1), testing::ElementsAre(0.0f));
  EXPECT_THAT(Means({1, 1, 0x1p53f, -0x1p53f}, 4, 1), testing::ElementsAre(0.5f));
}

TEST(MeanOverSamples, OfOneSampleIsTheTermItself) {
  const std::vector<float> means = Means({-0.0f, 0.1f, kInfinity, kOddNaN}, 1, 2);
  EXPECT_EQ(BitsOf(means[0]), 0x80000000u);
  EXPECT_EQ(means[1], 0.1f);
  EXPECT_EQ(means[2], kInfinity);
  EXPECT_EQ(BitsOf(means[3]), 0x7fc00000u);
}

TEST(MeanOverSamples, StoresNaNInOneWayAndInItsPlace) {
  const std::vector<float> means = Means({kOddNaN, 1, 0, 3, kInfinity, 5, -kInfinity, 7}, 2, 2);
  EXPECT_EQ(BitsOf(means[0]), 0x7fc00000u);
  EXPECT_EQ(means[1], 2);
  EXPECT_EQ(BitsOf(means[2]), 0x7fc00000u);
  EXPECT_EQ(means[3], 6);
}

}  // namespace
}  // namespace cvae
