#include "base/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The bytes of `values`, which must outlive the tensor, as a vector of that dtype.
template <typename T>
Tensor Of(DType dtype, const std::vector<T>& values) {
  return {dtype, {values.size()}, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}};
}

// What an IEEE format of `mantissa_bits` and `exponent_bits` means, in double, by its definition.
double Decode(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int max_exponent = (1 << exponent_bits) - 1, bias = max_exponent / 2;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & max_exponent;
  const double fraction = std::ldexp(bits & ((1u << mantissa_bits) - 1), -mantissa_bits);
  const double sign = bits >> (exponent_bits + mantissa_bits) != 0 ? -1 : 1;
  if (exponent == max_exponent) return fraction == 0 ? sign * INFINITY : NAN;
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias) : sign * std::ldexp(1 + fraction, exponent - bias);
}

void ExpectSame(float got, double expected, uint32_t bits) {
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(got)) << std::hex << bits;
  } else {
    ASSERT_EQ(std::bit_cast<uint64_t>(static_cast<double>(got)), std::bit_cast<uint64_t>(expected)) << std::hex << bits;
  }
}

TEST(TensorTest, WidensEveryHalfAndBFloat16Exactly) {
  std::vector<uint16_t> patterns(65536);
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  const std::vector<float> halves = ToFloats(Of(DType::kF16, patterns));
  const std::vector<float> bfloats = ToFloats(Of(DType::kBF16, patterns));
  for (uint32_t i = 0; i < patterns.size(); ++i) {
    ExpectSame(halves[i], Decode(i, 5, 10), i);
    ExpectSame(bfloats[i], Decode(i, 8, 7), i);
  }
}

TEST(TensorTest, ConvertsEveryDTypeToFloats) {
  EXPECT_THAT(ToFloats(Of<uint8_t>(DType::kBool, {0, 1})), ElementsAre(0, 1));
  EXPECT_THAT(ToFloats(Of<uint8_t>(DType::kU8, {0, 255})), ElementsAre(0, 255));
  EXPECT_THAT(ToFloats(Of<int8_t>(DType::kI8, {-128, 127})), ElementsAre(-128, 127));
  EXPECT_THAT(ToFloats(Of<uint16_t>(DType::kU16, {65535})), ElementsAre(65535));
  EXPECT_THAT(ToFloats(Of<int16_t>(DType::kI16, {-32768})), ElementsAre(-32768));
  EXPECT_THAT(ToFloats(Of<uint32_t>(DType::kU32, {0xffffffff})), ElementsAre(0x1p32f));
  EXPECT_THAT(ToFloats(Of<int32_t>(DType::kI32, {-5})), ElementsAre(-5));
  EXPECT_THAT(ToFloats(Of<uint64_t>(DType::kU64, {UINT64_MAX})), ElementsAre(0x1p64f));
  EXPECT_THAT(ToFloats(Of<int64_t>(DType::kI64, {INT64_MIN, 16777217})), ElementsAre(-0x1p63f, 16777216));
  EXPECT_THAT(ToFloats(Of<float>(DType::kF32, {1.5f, -0x1p-149f})), ElementsAre(1.5f, -0x1p-149f));
  EXPECT_THAT(ToFloats(Of<double>(DType::kF64, {0.1, 1e300})), ElementsAre(0.1f, INFINITY));
}

TEST(TensorTest, ReadsUnalignedData) {
  const std::vector<float> values = {1, -2};
  std::string bytes(1 + sizeof(float) * 2, '\0');
  std::memcpy(bytes.data() + 1, values.data(), sizeof(float) * 2);
  EXPECT_THAT(ToFloats({DType::kF32, {2}, std::string_view(bytes).substr(1)}), ElementsAre(1, -2));
}

TEST(TensorTest, ConvertsToIntegers) {
  EXPECT_THAT(*ToIntegers(Of<int64_t>(DType::kI64, {INT64_MIN, INT64_MAX})), ElementsAre(INT64_MIN, INT64_MAX));
  EXPECT_THAT(*ToIntegers(Of<uint8_t>(DType::kU8, {255})), ElementsAre(255));
  EXPECT_THAT(*ToIntegers(Of<float>(DType::kF32, {-3, 7})), ElementsAre(-3, 7));
  EXPECT_THAT(*ToIntegers(Of<uint16_t>(DType::kF16, {0x4200})), ElementsAre(3));
  EXPECT_THAT(*ToIntegers(Of<double>(DType::kF64, {-0x1p63})), ElementsAre(INT64_MIN));
}

TEST(TensorTest, RefusesWhatIsNoInteger) {
  EXPECT_EQ(ToIntegers(Of<float>(DType::kF32, {1, 2.5f})).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ToIntegers(Of<float>(DType::kF32, {1, 2.5f})).status().message()), HasSubstr("element 1"));
  EXPECT_FALSE(ToIntegers(Of<float>(DType::kF32, {NAN})).ok());
  EXPECT_FALSE(ToIntegers(Of<float>(DType::kF32, {-INFINITY})).ok());
  EXPECT_FALSE(ToIntegers(Of<double>(DType::kF64, {0x1p63})).ok());
  EXPECT_FALSE(ToIntegers(Of<uint64_t>(DType::kU64, {UINT64_MAX})).ok());
}

TEST(TensorTest, Names) {
  for (const char* name : {"BOOL", "U8", "I8", "U16", "I16", "F16", "BF16", "U32", "I32", "F32", "U64", "I64", "F64"}) {
    const std::optional<DType> dtype = DTypeFromName(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    EXPECT_STREQ(DTypeName(*dtype), name);
  }
  EXPECT_FALSE(DTypeFromName("F8_E4M3").has_value());
  EXPECT_EQ(ToString({DType::kF32, {128, 266}, {}}), "F32 [128, 266]");
  EXPECT_EQ(ToString({DType::kBF16, {}, {}}), "BF16 []");
  EXPECT_EQ(ToString({DType::kU8, std::vector<uint64_t>(9, 1), {}}), "U8 [1, 1, 1, 1, 1, 1, 1, 1, ...]");
}

}  // namespace
}  // namespace cvae
