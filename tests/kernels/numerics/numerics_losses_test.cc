// Activations and loss elements at values whose answers are known.

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "kernels/numerics/numerics.h"

namespace cvae {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool Same(float a, float b) { return scalar::Bits(scalar::CanonicalNaN(a)) == scalar::Bits(scalar::CanonicalNaN(b)); }

TEST(ActivationsTest, ReluKeepsNaNAndHasNoNegativeZero) {
  EXPECT_TRUE(Same(scalar::Relu(kNaN), kNaN));
  EXPECT_TRUE(Same(scalar::Relu(-0.0f), 0.0f));
  EXPECT_TRUE(Same(scalar::Relu(-kInf), 0.0f));
  EXPECT_TRUE(Same(scalar::Relu(kInf), kInf));
  EXPECT_TRUE(Same(scalar::Relu(0x1p-149f), 0x1p-149f));
}

TEST(ActivationsTest, EndsOfTheirRanges) {
  EXPECT_TRUE(Same(scalar::Sigmoid(0.0f), 0.5f));
  EXPECT_TRUE(Same(scalar::Sigmoid(kInf), 1.0f));
  EXPECT_TRUE(Same(scalar::Sigmoid(-kInf), 0.0f));
  EXPECT_TRUE(Same(scalar::Sigmoid(kNaN), kNaN));
  EXPECT_TRUE(Same(scalar::Softplus(kInf), kInf));
  EXPECT_TRUE(Same(scalar::Softplus(-kInf), 0.0f));
  EXPECT_TRUE(Same(scalar::Softplus(kNaN), kNaN));
  EXPECT_TRUE(Same(scalar::Elu(-kInf, 0.5f), -0.5f));
  EXPECT_TRUE(Same(scalar::LeakyRelu(-2.0f, 0.25f), -0.5f));
  EXPECT_TRUE(Same(scalar::LeakyRelu(kNaN, 0.25f), kNaN));
  EXPECT_TRUE(Same(scalar::Silu(-kInf), kNaN));
  EXPECT_TRUE(Same(scalar::Gelu(kInf), kInf));
  EXPECT_TRUE(Same(scalar::GeluTanh(kInf), kInf));
  EXPECT_TRUE(Same(scalar::GeluTanh(-10.0f), -0.0f));
}

TEST(LossesTest, BceElementIsCloseToDouble) {
  for (double x : {0.0, 0.25, 0.5, 0.9, 1.0}) {
    for (double t = -120; t <= 120; t += 0.37) {
      const float logit = static_cast<float>(t), target = static_cast<float>(x);
      const double exact = std::fma(-double{logit}, double{target}, std::max(double{logit}, 0.0)) +
                           std::log1p(std::exp(-std::abs(double{logit})));
      EXPECT_NEAR(scalar::BceElement(logit, target), exact, 4e-7 * exact + 2e-45) << logit << " " << target;
    }
  }
}

// PyTorch's from the probability would be 100 here.
TEST(LossesTest, BceElementIsNotClamped) {
  EXPECT_TRUE(Same(scalar::BceElement(-150.0f, 1.0f), 150.0f));
  EXPECT_TRUE(Same(scalar::BceElement(150.0f, 0.0f), 150.0f));
  EXPECT_TRUE(Same(scalar::BceElement(kNaN, 0.5f), kNaN));
  EXPECT_TRUE(Same(scalar::BceElement(1.0f, kNaN), kNaN));
}

TEST(LossesTest, KlElementKeepsItsDigitsAroundLogvarZero) {
  EXPECT_TRUE(Same(scalar::KlElement(0.0f, 0.0f), 0.0f));
  for (double logvar : {1e-6, -1e-4, 1e-3, -0.02, 0.4, -3.0, 5.0}) {
    const float lv = static_cast<float>(logvar);
    const double x = lv;
    const double exact =
        std::abs(x) < 1e-2 ? x * x * (0.5 + x * (1 / 6.0 + x * (1 / 24.0 + x / 120))) : std::expm1(x) - x;
    EXPECT_NEAR(scalar::KlElement(0.0f, lv), 0.5 * exact, 4e-7 * exact) << lv;
    EXPECT_NEAR(scalar::KlElement(1.5f, lv), 0.5 * (2.25 + exact), 2e-7 * (2.25 + exact)) << lv;
    EXPECT_NEAR(scalar::KlElementOfVariance(1.5f, std::exp(lv), lv), 0.5 * (2.25 + exact), 4e-7 * (3 + exp(x))) << lv;
  }
  EXPECT_TRUE(Same(scalar::KlElement(0.0f, kInf), kInf));
  EXPECT_TRUE(Same(scalar::KlElement(0.0f, -kInf), kInf));
  EXPECT_TRUE(Same(scalar::KlElement(kNaN, 0.0f), kNaN));
}

TEST(LossesTest, SampleZScalesByTheDeviation) {
  EXPECT_TRUE(Same(scalar::SampleZ(1.0f, 0.0f, 2.0f), 3.0f));
  EXPECT_TRUE(Same(scalar::SampleZ(1.0f, -kInf, 2.0f), 1.0f));
  EXPECT_TRUE(Same(scalar::SampleZOfVariance(1.0f, 4.0f, 2.0f), 5.0f));
  EXPECT_TRUE(Same(scalar::SampleZOfVariance(1.0f, -4.0f, 2.0f), kNaN));
}

// logvar's clamp and eps, the KL's logarithm, z's clamp: what a description adds to the formulas.
TEST(LatentSpecTest, ByDefaultChangesNothing) {
  const LatentSpec spec;
  for (float v : {-kInf, -90.0f, -1.5f, -0.0f, 0.0f, 0.3f, 90.0f, kInf, kNaN}) {
    EXPECT_TRUE(Same(scalar::ClampLogvar(spec, v), v)) << v;
    EXPECT_TRUE(Same(scalar::DrawZ(spec, 1, v), v)) << v;
    EXPECT_TRUE(Same(scalar::KlElement(spec, 0.5f, v), scalar::KlElement(0.5f, v))) << v;
    EXPECT_TRUE(Same(scalar::SampleZ(spec, 0.5f, v, -2.0f), scalar::SampleZ(0.5f, v, -2.0f))) << v;
  }
}

TEST(LatentSpecTest, ClampsKeepNaN) {
  const LatentSpec spec{.logvar_min = -8, .logvar_max = 30, .z_min = -0.5f, .z_max = 0.5f};
  EXPECT_TRUE(Same(scalar::ClampLogvar(spec, -kInf), -8.0f));
  EXPECT_TRUE(Same(scalar::ClampLogvar(spec, kInf), 30.0f));
  EXPECT_TRUE(Same(scalar::ClampLogvar(spec, 1.5f), 1.5f));
  EXPECT_TRUE(Same(scalar::ClampLogvar(spec, kNaN), kNaN));
  EXPECT_TRUE(Same(scalar::DrawZ(spec, 0.25f, 3.0f), 0.5f));  // after the temperature
  EXPECT_TRUE(Same(scalar::DrawZ(spec, 0.25f, 1.0f), 0.25f));
  EXPECT_TRUE(Same(scalar::DrawZ(spec, 1, kNaN), kNaN));
}

TEST(LatentSpecTest, AVarianceEpsIsInZAndInTheKl) {
  const LatentSpec of_var{.variance_eps = 3};
  const LatentSpec of_logvar{.variance_eps = 3, .kl_of_logvar = true};
  EXPECT_TRUE(Same(scalar::SampleZ(of_var, 1.0f, 0.0f, 2.0f), 5.0f));
  EXPECT_NEAR(scalar::KlElement(of_var, 1.0f, 0.0f), 0.5 * (1 + 4 - 1 - std::log(4.0)), 4e-7);
  EXPECT_TRUE(Same(scalar::KlElement(of_logvar, 1.0f, 0.0f), 2.0f));
}

TEST(LossesTest, SquaredErrorIsRoundedOnce) { EXPECT_TRUE(Same(scalar::SquaredError(-3.0f), 9.0f)); }

}  // namespace
}  // namespace cvae
