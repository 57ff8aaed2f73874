// Every instruction set that this machine can run gives the bits of the scalar code: the functions, the noise and the
// sums.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/numerics/numerics_targets_test.cc"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on

#include "gmock/gmock.h"
#include "kernels/numerics/numerics-inl.h"
#include "kernels/numerics/numerics.h"
#include "tests/kernels/numerics/scalar_functions.h"

HWY_BEFORE_NAMESPACE();
namespace cvae {
namespace HWY_NAMESPACE {

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

// out[i] = function `index` of the list at arguments i.
void Evaluate(size_t index, const Arguments& arguments, float* out) {
  const int size = static_cast<int>(arguments.size());
  size_t entry = 0;
#define CVAE_EVALUATE(name, formula)                                         \
  if (entry++ == index) {                                                    \
    for (int i = 0; i < size; i += kLanes) {                                 \
      const int n = size - i < kLanes ? size - i : kLanes;                   \
      [[maybe_unused]] const VecF a = VecF::Load(arguments.a.data() + i, n); \
      [[maybe_unused]] const VecF b = VecF::Load(arguments.b.data() + i, n); \
      [[maybe_unused]] const VecF c = VecF::Load(arguments.c.data() + i, n); \
      const VecF result = formula;                                           \
      result.Store(out + i, n);                                              \
    }                                                                        \
  }
  CVAE_NUMERICS_FUNCTIONS(CVAE_EVALUATE)
#undef CVAE_EVALUATE
}

void Noise(uint64_t seed, uint64_t row, uint32_t sample, int count, float* eps) {
  FillNormals<VecU>(seed, row, sample, count, eps);
}

// The sums of d^2 and of d.
void Sums(const float* d, int count, float* sum_of_squares, float* sum) {
  RowSum<VecF> squares, plain;
  for (int i = 0; i * kLanes < count; ++i) {
    const int n = count - i * kLanes;
    const VecF v = n < kLanes ? VecF::Load(d + i * kLanes, n) : VecF::Load(d + i * kLanes);
    squares.AddSquare(i, v);
    plain.Add(i, v);
  }
  *sum_of_squares = squares.Total();
  *sum = plain.Total();
}

}  // namespace HWY_NAMESPACE
}  // namespace cvae
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cvae {

HWY_EXPORT(TargetName);
HWY_EXPORT(Evaluate);
HWY_EXPORT(Noise);
HWY_EXPORT(Sums);

namespace {

class TargetsTest : public testing::Test {
 protected:
  ~TargetsTest() override { hwy::SetSupportedTargetsForTest(0); }

  // Calls check() with each instruction set chosen; all may be chosen again afterwards.
  template <class Check>
  void ForEachTarget(Check check) {
    const auto targets = hwy::SupportedAndGeneratedTargets();
    ASSERT_THAT(targets, testing::Not(testing::IsEmpty()));
    for (const auto target : targets) {
      hwy::SetSupportedTargetsForTest(target);
      ASSERT_STREQ(HWY_DYNAMIC_DISPATCH(TargetName)(), hwy::TargetName(target));
      SCOPED_TRACE(hwy::TargetName(target));
      check();
    }
    hwy::SetSupportedTargetsForTest(0);
  }
};

TEST_F(TargetsTest, ThereIsMoreThanOne) {
  std::string names;
  ForEachTarget([&] { names += std::string(" ") + HWY_DYNAMIC_DISPATCH(TargetName)(); });
  std::printf("instruction sets:%s\n", names.c_str());
#if HWY_ARCH_X86
  EXPECT_GT(hwy::SupportedAndGeneratedTargets().size(), 1u);
#endif
}

TEST_F(TargetsTest, EveryFunctionHasTheBitsOfTheScalarOne) {
  const Arguments arguments = HardArguments(30'000);
  const auto& functions = ScalarFunctions();
  std::vector<float> got(arguments.size());
  for (size_t f = 0; f < functions.size(); ++f) {
    std::vector<uint32_t> expected(arguments.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const float y = functions[f].evaluate(arguments.a[i], arguments.b[i], arguments.c[i]);
      expected[i] = scalar::Bits(scalar::CanonicalNaN(y));
    }
    ForEachTarget([&] {
      HWY_DYNAMIC_DISPATCH(Evaluate)(f, arguments, got.data());
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(scalar::Bits(scalar::CanonicalNaN(got[i])), expected[i])
            << functions[f].name << " of " << arguments.a[i] << ", " << arguments.b[i] << ", " << arguments.c[i];
      }
    });
  }
}

// Not only equal after a canonical NaN was made of it: the stored bits themselves.
TEST_F(TargetsTest, CanonicalNaNIsStoredAsSuch) {
  const auto& functions = ScalarFunctions();
  size_t f = 0;
  while (functions[f].name != "CanonicalNaN") ++f;
  Arguments arguments;
  for (uint32_t bits : {0x7f800001u, 0xffc00000u, 0xffffffffu}) arguments.Add(scalar::FromBits(bits), 0, 0);
  ForEachTarget([&] {
    std::vector<float> got(arguments.size());
    HWY_DYNAMIC_DISPATCH(Evaluate)(f, arguments, got.data());
    for (float y : got) EXPECT_EQ(scalar::Bits(y), 0x7fc00000u);
  });
}

// Exactly as large as asked for, on the heap, so that AddressSanitizer sees a load or store beyond the end.
TEST_F(TargetsTest, NoiseOfAnyCountHasTheBitsOfTheScalarOne) {
  for (int count = 1; count <= 130; ++count) {
    std::vector<float> expected(count);
    scalar::FillNormals<uint32_t>(0x123456789abcdefu, 0xfedcba987u + count, count, count, expected.data());
    ForEachTarget([&] {
      const std::unique_ptr<float[]> got(new float[count]);
      HWY_DYNAMIC_DISPATCH(Noise)(0x123456789abcdefu, 0xfedcba987u + count, count, count, got.get());
      for (int i = 0; i < count; ++i)
        ASSERT_EQ(scalar::Bits(got[i]), scalar::Bits(expected[i])) << i << " of " << count;
    });
  }
}

TEST_F(TargetsTest, SumsOfAnyCountHaveTheBitsOfTheScalarOnes) {
  for (int count = 0; count <= 130; ++count) {
    std::vector<float> d(count);
    if (count > 0) scalar::FillNormals<uint32_t>(7, count, 0, count, d.data());
    scalar::RowSum<float> squares, plain;
    for (int i = 0; i < count; ++i) squares.AddSquare(i, d[i]), plain.Add(i, d[i]);
    ForEachTarget([&] {
      const std::unique_ptr<float[]> exact_size(new float[count]);
      std::copy(d.begin(), d.end(), exact_size.get());
      float sum_of_squares, sum;
      HWY_DYNAMIC_DISPATCH(Sums)(exact_size.get(), count, &sum_of_squares, &sum);
      EXPECT_EQ(scalar::Bits(sum_of_squares), scalar::Bits(squares.Total())) << count;
      EXPECT_EQ(scalar::Bits(sum), scalar::Bits(plain.Total())) << count;
    });
  }
}

}  // namespace
}  // namespace cvae
#endif  // HWY_ONCE
