// The noise: Philox's known answers, the counter's layout, and whether the normals are normal, in every direction in
// which a request can walk through them.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/numerics/numerics.h"

namespace cvae {
namespace {

using Words = scalar::Four<uint32_t>;

std::vector<uint32_t> Philox(Words counter, uint32_t key0, uint32_t key1) {
  const Words words = scalar::Philox(counter, key0, key1);
  return {words.v, words.v + 4};
}

TEST(PhiloxTest, KnownAnswers) {
  EXPECT_THAT(Philox({{0, 0, 0, 0}}, 0, 0), testing::ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_THAT(Philox({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u),
              testing::ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(Philox({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u),
              testing::ElementsAre(0xd16cfe09u, 0x94fdcceb, 0x5001e420u, 0x24126ea1u));
}

TEST(PhiloxTest, CounterIsBlockSampleRowAndKeyIsSeed) {
  const Words words = scalar::NoiseWords<uint32_t>(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3u, 0x243f6a88u);
  EXPECT_THAT(words.v, testing::ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(UniformTest, IsInItsRange) {
  EXPECT_EQ(scalar::Uniform(0u), 0x1p-33f);
  EXPECT_EQ(scalar::Uniform(1u), 0x1.8p-32f);
  EXPECT_EQ(scalar::Uniform(0x80000000u), 0.5f);
  EXPECT_EQ(scalar::Uniform(0xffffffffu), 1.0f);
}

TEST(NormalsTest, ExtremeWordsGiveFiniteNormals) {
  for (uint32_t radius : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (uint32_t turn : {0u, 1u, 0x40000000u, 0x80000000u, 0xc0000000u, 0xffffffffu}) {
      for (float e : scalar::Normals(Words{{radius, turn, turn, radius}}).v) EXPECT_LE(std::abs(e), 6.77f);
    }
  }
}

TEST(NormalsTest, AreBoxAndMullersOfDouble) {
  for (uint32_t block = 0; block < 10'000; ++block) {
    const Words words = scalar::NoiseWords<uint32_t>(3, 5, 8, block);
    const auto normals = scalar::Normals(words);
    for (int i = 0; i < 4; i += 2) {
      const double r = std::sqrt(-2 * std::log(double{scalar::Uniform(words.v[i])}));
      const double turn = 2 * std::acos(-1.0) * double{scalar::Uniform(words.v[i + 1])};
      ASSERT_NEAR(normals.v[i], r * std::cos(turn), 3e-7 * (r + 1e-3)) << block;
      ASSERT_NEAR(normals.v[i + 1], r * std::sin(turn), 3e-7 * (r + 1e-3)) << block;
    }
  }
}

TEST(NormalsTest, AShorterFillIsAPrefix) {
  float all[37];
  scalar::FillNormals<uint32_t>(1, 2, 3, 37, all);
  for (int count = 1; count < 37; ++count) {
    std::vector<float> some(count);
    scalar::FillNormals<uint32_t>(1, 2, 3, count, some.data());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all)) << count;
  }
}

// One way through the noise: where its i-th latent vector comes from.
struct Walk {
  const char* name;
  int vectors;
  int latents;
  std::function<void(int i, int count, float* eps)> fill;

  friend void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }
};

class NormalityTest : public testing::TestWithParam<Walk> {
 protected:
  NormalityTest() : width_(GetParam().latents), eps_(size_t(GetParam().vectors) * width_) {
    for (int i = 0; i < GetParam().vectors; ++i) GetParam().fill(i, width_, &eps_[size_t(i) * width_]);
  }

  // The mean of f(eps) over all of them.
  template <class Function>
  double Mean(Function f) const {
    double sum = 0;
    for (double e : eps_) sum += f(e);
    return sum / static_cast<double>(eps_.size());
  }

  // The correlation of each eps with the one `lag` further, of which 1 / sqrt(n) is the standard error.
  double Correlation(size_t lag) const {
    double sum = 0;
    for (size_t i = lag; i < eps_.size(); ++i) sum += double{eps_[i]} * double{eps_[i - lag]};
    return sum / static_cast<double>(eps_.size());
  }

  const size_t width_;
  std::vector<float> eps_;
};

// Kolmogorov and Smirnov: the largest distance to the normal distribution, times sqrt(n), exceeds 1.95 once in 1000
// times.
TEST_P(NormalityTest, KolmogorovSmirnov) {
  std::sort(eps_.begin(), eps_.end());
  const auto n = static_cast<double>(eps_.size());
  double distance = 0;
  for (size_t i = 0; i < eps_.size(); ++i) {
    const double expected = 0.5 * std::erfc(-eps_[i] * std::sqrt(0.5));
    distance = std::max({distance, std::abs(expected - double(i) / n), std::abs(expected - double(i + 1) / n)});
  }
  EXPECT_LT(distance * std::sqrt(n), 1.95);
}

// Four standard errors each.
TEST_P(NormalityTest, Moments) {
  const double error = 4 / std::sqrt(static_cast<double>(eps_.size()));
  EXPECT_NEAR(Mean([](double e) { return e; }), 0, error);
  EXPECT_NEAR(Mean([](double e) { return e * e; }), 1, error * std::sqrt(2));
  EXPECT_NEAR(Mean([](double e) { return e * e * e; }), 0, error * std::sqrt(15));
  EXPECT_NEAR(Mean([](double e) { return e * e * e * e; }), 3, error * std::sqrt(96));
}

TEST_P(NormalityTest, NeighboursAreUncorrelated) {
  const double error = 4 / std::sqrt(static_cast<double>(eps_.size()));
  for (size_t lag : {size_t{1}, size_t{2}, size_t{3}, size_t{4}, width_, 2 * width_}) {
    EXPECT_NEAR(Correlation(lag), 0, error) << lag;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, NormalityTest,
    testing::Values(
        Walk{"Seeds", 8000, 32, [](int i, int n, float* eps) { scalar::FillNormals<uint32_t>(i, 0, 0, n, eps); }},
        Walk{"HighSeeds", 8000, 32,
             [](int i, int n, float* eps) { scalar::FillNormals<uint32_t>(uint64_t(i) << 32, 0, 0, n, eps); }},
        Walk{"RowsOfOneSeed", 8000, 32,
             [](int i, int n, float* eps) { scalar::FillNormals<uint32_t>(42, i, 0, n, eps); }},
        Walk{"HighRows", 8000, 32,
             [](int i, int n, float* eps) { scalar::FillNormals<uint32_t>(42, uint64_t(i) << 32, 0, n, eps); }},
        Walk{"SamplesOfOneRow", 8000, 32,
             [](int i, int n, float* eps) { scalar::FillNormals<uint32_t>(42, 7, i, n, eps); }},
        Walk{"SeedsAndRows", 8000, 32,
             [](int i, int n, float* eps) { scalar::FillNormals<uint32_t>(i / 90, i % 90, 0, n, eps); }},
        Walk{"LatentsOfOneRow", 1, 256'000,
             [](int, int n, float* eps) { scalar::FillNormals<uint32_t>(42, 7, 0, n, eps); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cvae
