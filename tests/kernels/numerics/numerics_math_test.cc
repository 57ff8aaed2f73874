// How far each function is from the truth, over its range, and what it does at the ends of it.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/numerics/numerics.h"
#include "tests/kernels/numerics/scalar_functions.h"

namespace cvae {
namespace {

using Real = long double;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

// The distance of two floats' neighbours around `exact`, subnormals' at least.
Real Ulp(Real exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::ldexp(1.0L, std::min(std::max(exponent - 24, -149), 104));
}

// The error of `got` in ulp; infinity stands for 2^128, so an overflow that is one rounding early is one ulp off.
Real UlpError(float got, Real exact, Real ulp) {
  const auto finite = [](Real x) { return std::isinf(x) || std::abs(x) > 0x1p128L ? std::copysign(0x1p128L, x) : x; };
  return std::abs(finite(got) - finite(exact)) / ulp;
}

// Whole turns are taken off first: the result's relative error then is long double's also around the zeros.
Real SinPi(Real x) {
  const Real whole = std::nearbyint(x);
  const Real sign = std::fmod(whole, 2.0L) == 0 ? 1 : -1;
  return sign * std::sin(std::acos(-1.0L) * (x - whole));
}

Real CosPi(Real x) { return SinPi(x + 0.5L); }

Real ExpM1MinusX(Real x) {
  if (std::abs(x) > 0.1L) return std::exp(x) - 1 - x;
  Real term = x * x / 2, sum = 0;
  for (int k = 3; k < 20; ++k, term *= x / (k - 1)) sum += term;
  return sum;
}
Real Sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real Softplus(Real x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x))); }
Real Gelu(Real x) { return x / 2 * std::erfc(-x * std::sqrt(0.5L)); }
Real GeluTanh(Real x) {
  const Real u = std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
  return x * Sigmoid(2 * u);
}

struct Accuracy {
  std::string name;  // in ScalarFunctions
  Real (*exact)(Real);
  float low, high;
  double bound;           // in ulp: what the comment of the function states
  bool ulp_of_x = false;  // in ulp of the argument: the formula cancels on its negative side

  friend void PrintTo(const Accuracy& f, std::ostream* out) { *out << f.name; }
};

class AccuracyTest : public testing::TestWithParam<Accuracy> {};

// Argument i of n: half of them even over the floats between low and high, half even over the numbers.
float Argument(const Accuracy& f, int i, int n) {
  const double part = static_cast<double>(i / 2) / (n / 2);
  if (i % 2 == 0) return static_cast<float>(f.low + part * (static_cast<double>(f.high) - f.low));
  const auto ordered = [](float x) {  // floats as whole numbers in their order
    const int32_t bits = std::bit_cast<int32_t>(x);
    return static_cast<double>(bits < 0 ? -static_cast<int64_t>(bits & 0x7fffffff) : bits);
  };
  const auto place = static_cast<int64_t>(ordered(f.low) + part * (ordered(f.high) - ordered(f.low)));
  const float magnitude = scalar::FromBits(static_cast<uint32_t>(place < 0 ? -place : place));
  return place < 0 ? -magnitude : magnitude;
}

// CVAE_NUMERICS_SAMPLES sets how many arguments are tried; the comments' figures are of 20 million.
TEST_P(AccuracyTest, IsWithinItsBound) {
  const Accuracy& f = GetParam();
  const auto& functions = ScalarFunctions();
  const auto function = std::find_if(functions.begin(), functions.end(), [&](auto& g) { return g.name == f.name; });
  ASSERT_NE(function, functions.end());
  const char* wanted = std::getenv("CVAE_NUMERICS_SAMPLES");
  const int samples = wanted != nullptr ? std::atoi(wanted) : 200'000;
  Real worst = 0;
  float worst_at = 0;
  for (int i = 0; i < samples; ++i) {
    const float x = Argument(f, i, samples);
    const float got = function->evaluate(x, 0, 0);
    const Real exact = f.exact(x);
    ASSERT_FALSE(std::isnan(got)) << "at " << x;
    const Real error = UlpError(got, exact, Ulp(f.ulp_of_x ? x : exact));
    if (error > worst) worst = error, worst_at = x;
  }
  std::printf("%s on [%g, %g]: at most %.3Lf ulp, at %.9g\n", f.name.c_str(), f.low, f.high, worst, worst_at);
  EXPECT_LE(worst, f.bound) << "at " << worst_at;
}

INSTANTIATE_TEST_SUITE_P(
    All, AccuracyTest,
    testing::Values(Accuracy{"Exp", std::exp, -110, 95, 0.99}, Accuracy{"Expm1", std::expm1, -110, 95, 1.44},
                    Accuracy{"ExpM1MinusX", ExpM1MinusX, -110, 95, 2.05},
                    Accuracy{"ExpM1MinusX", ExpM1MinusX, -2, 2, 2.05}, Accuracy{"Log", std::log, 1e-45f, kMax, 0.81},
                    Accuracy{"Log", std::log, 0.5f, 2, 0.81}, Accuracy{"Log1p", std::log1p, -0x1.fffffep-1f, 10, 1.38},
                    Accuracy{"Log1p", std::log1p, 0, kMax, 1.38}, Accuracy{"SinPi", SinPi, -2, 2, 1.05},
                    Accuracy{"CosPi", CosPi, -2, 2, 0.86}, Accuracy{"SinPi", SinPi, -0x1p21f, 0x1p21f, 1.05},
                    Accuracy{"CosPi", CosPi, -0x1p21f, 0x1p21f, 0.86}, Accuracy{"Tanh", std::tanh, -20, 20, 2.5},
                    Accuracy{"Erf", std::erf, -6, 6, 1.06}, Accuracy{"Sigmoid", Sigmoid, -88.7f, 100, 2.42},
                    Accuracy{"Softplus", Softplus, -100, 100, 1.63},
                    Accuracy{"Silu", [](Real x) { return x * Sigmoid(x); }, -88.7f, 100, 4.03},
                    Accuracy{"Elu", [](Real x) { return x > 0 ? x : 0.7f * std::expm1(x); }, -100, 100, 1.55},
                    Accuracy{"Gelu", Gelu, -20, 20, 1.47, true}, Accuracy{"GeluTanh", GeluTanh, -20, 20, 2.16, true}),
    [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

// The bits of a result, a NaN's as outputs store it.
uint32_t ResultBits(float x) { return scalar::Bits(scalar::CanonicalNaN(x)); }

#define EXPECT_SAME(got, expected) EXPECT_EQ(ResultBits(got), ResultBits(expected)) << #got << " is " << (got)

TEST(NumericsMathTest, ExpAtTheEndsOfItsRange) {
  EXPECT_SAME(scalar::Exp(0.0f), 1.0f);
  EXPECT_SAME(scalar::Exp(-0.0f), 1.0f);
  EXPECT_SAME(scalar::Exp(kInf), kInf);
  EXPECT_SAME(scalar::Exp(-kInf), 0.0f);
  EXPECT_SAME(scalar::Exp(kNaN), kNaN);
  EXPECT_SAME(scalar::Exp(kMax), kInf);
  EXPECT_LT(scalar::Exp(0x1.62e42ep+6f), kInf);          // 88.722832
  EXPECT_SAME(scalar::Exp(0x1.62e43p+6f), kInf);         // 88.722839
  EXPECT_SAME(scalar::Exp(-0x1.9fe368p+6f), 0x1p-149f);  // -103.972076: the last that is not 0
  EXPECT_SAME(scalar::Exp(-0x1.9fe36ap+6f), 0.0f);
  EXPECT_SAME(scalar::Exp(-kMax), 0.0f);
  EXPECT_SAME(scalar::Exp(-100.0f), 27 * 0x1p-149f);  // 3.72e-44 is 26.6 of the smallest subnormals
}

TEST(NumericsMathTest, Expm1AtTheEndsOfItsRange) {
  EXPECT_SAME(scalar::Expm1(0.0f), 0.0f);
  EXPECT_SAME(scalar::Expm1(-0.0f), -0.0f);
  EXPECT_SAME(scalar::Expm1(0x1p-149f), 0x1p-149f);
  EXPECT_SAME(scalar::Expm1(kInf), kInf);
  EXPECT_SAME(scalar::Expm1(-kInf), -1.0f);
  EXPECT_SAME(scalar::Expm1(kNaN), kNaN);
}

TEST(NumericsMathTest, ExpM1MinusXAtTheEndsOfItsRange) {
  EXPECT_SAME(scalar::ExpM1MinusX(0.0f), 0.0f);
  EXPECT_SAME(scalar::ExpM1MinusX(-0.0f), 0.0f);
  EXPECT_SAME(scalar::ExpM1MinusX(kInf), kInf);
  EXPECT_SAME(scalar::ExpM1MinusX(-kInf), kInf);
  EXPECT_SAME(scalar::ExpM1MinusX(-kMax), kMax);
  EXPECT_SAME(scalar::ExpM1MinusX(kNaN), kNaN);
}

TEST(NumericsMathTest, LogAtTheEndsOfItsRange) {
  EXPECT_SAME(scalar::Log(1.0f), 0.0f);
  EXPECT_SAME(scalar::Log(0.0f), -kInf);
  EXPECT_SAME(scalar::Log(-0.0f), -kInf);
  EXPECT_SAME(scalar::Log(-0x1p-149f), kNaN);
  EXPECT_SAME(scalar::Log(-kInf), kNaN);
  EXPECT_SAME(scalar::Log(kInf), kInf);
  EXPECT_SAME(scalar::Log(kNaN), kNaN);
  EXPECT_SAME(scalar::Log(0x1p-149f), -103.27893f);
  EXPECT_SAME(scalar::Log(kMax), 88.722839f);
}

TEST(NumericsMathTest, Log1pAtTheEndsOfItsRange) {
  EXPECT_SAME(scalar::Log1p(0.0f), 0.0f);
  EXPECT_SAME(scalar::Log1p(-0.0f), -0.0f);
  EXPECT_SAME(scalar::Log1p(0x1p-149f), 0x1p-149f);
  EXPECT_SAME(scalar::Log1p(-1.0f), -kInf);
  EXPECT_SAME(scalar::Log1p(-0x1.000002p+0f), kNaN);
  EXPECT_SAME(scalar::Log1p(kInf), kInf);
  EXPECT_SAME(scalar::Log1p(-kInf), kNaN);
  EXPECT_SAME(scalar::Log1p(kNaN), kNaN);
}

TEST(NumericsMathTest, SinCosPiIsExactAtQuarterTurns) {
  for (int i = -8; i <= 8; ++i) {
    const auto [sin, cos] = scalar::SinCosPi(0.5f * i);
    const int quadrant = ((i % 4) + 4) % 4;
    EXPECT_EQ(sin, quadrant == 1 ? 1 : quadrant == 3 ? -1 : 0) << i;
    EXPECT_EQ(cos, quadrant == 0 ? 1 : quadrant == 2 ? -1 : 0) << i;
  }
  for (float x : {kInf, -kInf, kNaN, 0x1.000002p21f}) {
    EXPECT_SAME(scalar::SinCosPi(x).sin, kNaN);
    EXPECT_SAME(scalar::SinCosPi(x).cos, kNaN);
  }
}

TEST(NumericsMathTest, TanhAndErfKeepSignsAndSaturate) {
  for (auto f : {&scalar::Tanh<float>, &scalar::Erf<float>}) {
    EXPECT_SAME(f(0.0f), 0.0f);
    EXPECT_SAME(f(-0.0f), -0.0f);
    EXPECT_SAME(f(kInf), 1.0f);
    EXPECT_SAME(f(-kInf), -1.0f);
    EXPECT_SAME(f(-30.0f), -1.0f);
    EXPECT_SAME(f(kNaN), kNaN);
  }
  EXPECT_SAME(scalar::Tanh(0x1p-149f), 0x1p-149f);
}

TEST(NumericsMathTest, MaxMinAndClampKeepNaN) {
  EXPECT_SAME(scalar::Max(kNaN, 1.0f), kNaN);
  EXPECT_SAME(scalar::Max(1.0f, kNaN), kNaN);
  EXPECT_SAME(scalar::Min(kNaN, 1.0f), kNaN);
  EXPECT_SAME(scalar::Min(1.0f, kNaN), kNaN);
  EXPECT_SAME(scalar::Max(2.0f, 1.0f), 2.0f);
  EXPECT_SAME(scalar::Min(2.0f, 1.0f), 1.0f);
  EXPECT_SAME(scalar::Max(0.0f, -0.0f), -0.0f);  // the second of equals
  EXPECT_SAME(scalar::Clamp(kNaN, 0.0f, 1.0f), kNaN);
  EXPECT_SAME(scalar::Clamp(kInf, 0.0f, 1.0f), 1.0f);
  EXPECT_SAME(scalar::Clamp(-kInf, 0.0f, 1.0f), 0.0f);
  EXPECT_SAME(scalar::Clamp(-0.0f, 0.0f, 1.0f), 0.0f);
  EXPECT_SAME(scalar::Clamp(0.5f, 0.0f, 1.0f), 0.5f);
}

TEST(NumericsMathTest, OneBitPatternOfNaNIsStored) {
  for (uint32_t bits : {0x7f800001u, 0x7fc00001u, 0xffc00000u, 0xffffffffu}) {
    EXPECT_EQ(scalar::Bits(scalar::CanonicalNaN(scalar::FromBits(bits))), 0x7fc00000u);
  }
  EXPECT_EQ(scalar::Bits(scalar::CanonicalNaN(-0.0f)), 0x80000000u);
  EXPECT_EQ(scalar::CanonicalNaN(-kInf), -kInf);
  EXPECT_EQ(std::bit_cast<uint64_t>(scalar::CanonicalNaN(-std::nan("1"))), 0x7ff8000000000000u);
  EXPECT_EQ(scalar::CanonicalNaN(0.1), 0.1);
}

}  // namespace
}  // namespace cvae
