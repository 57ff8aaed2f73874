// The sum scheme against the plain spelling of its definition.

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/numerics/numerics.h"

namespace cvae {
namespace {

// Column j to partial j mod 32, ascending; then the tree, written out.
float PlainSumOfSquares(const std::vector<float>& d) {
  float p[32] = {};
  for (size_t j = 0; j < d.size(); ++j) p[j % 32] = std::fmaf(d[j], d[j], p[j % 32]);
  for (int i = 0; i < 16; ++i) p[i] = p[i] + p[i + 16];
  for (int i = 0; i < 8; ++i) p[i] = p[i] + p[i + 8];
  for (int i = 0; i < 4; ++i) p[i] = p[i] + p[i + 4];
  p[0] = p[0] + p[2];
  p[1] = p[1] + p[3];
  return p[0] + p[1];
}

TEST(RowSumTest, IsTheSchemeOfItsDefinition) {
  for (int count = 0; count <= 300; count += count < 70 ? 1 : 23) {
    std::vector<float> d(count);
    if (count > 0) scalar::FillNormals<uint32_t>(1, count, 0, count, d.data());
    scalar::RowSum<float> sum;
    for (int j = 0; j < count; ++j) sum.AddSquare(j, d[j]);
    EXPECT_EQ(scalar::Bits(sum.Total()), scalar::Bits(PlainSumOfSquares(d))) << count;
  }
}

// Numbers that another order would lose: 2^24 + 1 + ... in one partial, the ones in the others.
TEST(RowSumTest, OrderMattersHere) {
  scalar::RowSum<float> sum;
  sum.Add(0, 0x1p24f);
  for (int j = 1; j < 32; ++j) sum.Add(j, 1.0f);
  EXPECT_EQ(sum.Total(),
            0x1p24f + 30);  // 2^24 + 1 is lost in the first step of the tree, the other thirty ones are not
}

TEST(RowSumTest, NothingSumsToPositiveZero) {
  EXPECT_EQ(scalar::Bits(scalar::RowSum<float>().Total()), 0u);
  scalar::RowSum<float> sum;
  sum.Add(0, -0.0f);
  EXPECT_EQ(scalar::Bits(sum.Total()), 0u);
}

TEST(RowSumTest, KeepsNaN) {
  scalar::RowSum<float> sum;
  sum.Add(40, std::nanf(""));
  EXPECT_TRUE(std::isnan(sum.Total()));
}

TEST(LayerNormTest, IsItsFormulaInDouble) {
  constexpr int kWidth = 37;
  float x[kWidth];
  scalar::FillNormals<uint32_t>(1, 2, 3, kWidth, x);
  double exact_mean = 0, exact_squares = 0;
  for (double v : x) exact_mean += v / kWidth;
  for (double v : x) exact_squares += (v - exact_mean) * (v - exact_mean);
  const double exact_rstd = 1 / std::sqrt(exact_squares / kWidth + 1e-5);

  scalar::RowSum<float> sum, squares;
  for (int j = 0; j < kWidth; ++j) sum.Add(j, x[j]);
  const float mean = scalar::Mean(sum.Total(), kWidth);
  for (int j = 0; j < kWidth; ++j) squares.AddSquare(j, x[j] - mean);
  const float rstd = scalar::InverseDeviation(squares.Total(), kWidth, 1e-5f);
  EXPECT_NEAR(mean, exact_mean, 1e-7);
  EXPECT_NEAR(rstd, exact_rstd, 3e-7 * exact_rstd);
  for (float v : x) {
    EXPECT_NEAR(scalar::Normalize(v, mean, rstd, 1.5f, 0.25f), (v - exact_mean) * exact_rstd * 1.5 + 0.25, 2e-6);
  }
}

}  // namespace
}  // namespace cvae
