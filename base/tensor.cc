#include "base/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cvae {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's bytes are read as they are");

struct DTypeInfo {
  DType dtype;
  const char* name;
  int size;
};

// In the order of DType.
constexpr DTypeInfo kDTypes[] = {
    {DType::kBool, "BOOL", 1}, {DType::kU8, "U8", 1},   {DType::kI8, "I8", 1},     {DType::kU16, "U16", 2},
    {DType::kI16, "I16", 2},   {DType::kF16, "F16", 2}, {DType::kBF16, "BF16", 2}, {DType::kU32, "U32", 4},
    {DType::kI32, "I32", 4},   {DType::kF32, "F32", 4}, {DType::kU64, "U64", 8},   {DType::kI64, "I64", 8},
    {DType::kF64, "F64", 8},
};

// Stored as a half and a bfloat16.
struct Half {
  uint16_t bits;
  explicit operator double() const { return HalfToFloat(bits); }
  explicit operator float() const { return HalfToFloat(bits); }
};
struct BFloat16 {
  uint16_t bits;
  explicit operator double() const { return BFloat16ToFloat(bits); }
  explicit operator float() const { return BFloat16ToFloat(bits); }
};

// Calls visit(T()) with the type that an element is stored as.
template <typename Visit>
auto WithElementType(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return visit(uint8_t());
    case DType::kI8:
      return visit(int8_t());
    case DType::kU16:
      return visit(uint16_t());
    case DType::kI16:
      return visit(int16_t());
    case DType::kF16:
      return visit(Half());
    case DType::kBF16:
      return visit(BFloat16());
    case DType::kU32:
      return visit(uint32_t());
    case DType::kI32:
      return visit(int32_t());
    case DType::kF32:
      return visit(float());
    case DType::kU64:
      return visit(uint64_t());
    case DType::kI64:
      return visit(int64_t());
    case DType::kF64:
      break;
  }
  return visit(double());
}

template <typename T>
T Load(const Tensor& tensor, uint64_t i) {
  T value;
  std::memcpy(&value, tensor.data.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
std::optional<int64_t> Integer(T value) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (value > INT64_MAX) return std::nullopt;
    }
    return static_cast<int64_t>(value);
  } else {
    const double wide = static_cast<double>(value);
    if (!(wide >= -0x1p63 && wide < 0x1p63) || wide != std::floor(wide)) return std::nullopt;
    return static_cast<int64_t>(wide);
  }
}

}  // namespace

const char* DTypeName(DType dtype) { return kDTypes[static_cast<int>(dtype)].name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

std::string DTypeNames() {
  return absl::StrJoin(kDTypes, ", ", [](std::string* out, const DTypeInfo& info) { absl::StrAppend(out, info.name); });
}

int DTypeSize(DType dtype) { return kDTypes[static_cast<int>(dtype)].size; }

std::string ToString(const Tensor& tensor) {
  constexpr size_t kShown = 8;
  const auto end = tensor.shape.begin() + std::min(kShown, tensor.shape.size());
  return absl::StrCat(DTypeName(tensor.dtype), " [", absl::StrJoin(tensor.shape.begin(), end, ", "),
                      tensor.shape.size() > kShown ? ", ...]" : "]");
}

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // subnormal in half, exact in float
  return sign != 0 ? -magnitude : magnitude;
}

float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

std::vector<float> ToFloats(const Tensor& tensor) {
  std::vector<float> floats(tensor.size());
  if (tensor.dtype == DType::kF32) {
    if (!floats.empty()) std::memcpy(floats.data(), tensor.data.data(), tensor.data.size());
    return floats;
  }
  WithElementType(tensor.dtype, [&](auto type) {
    for (uint64_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(Load<decltype(type)>(tensor, i));
  });
  return floats;
}

absl::StatusOr<std::vector<int64_t>> ToIntegers(const Tensor& tensor) {
  std::vector<int64_t> integers(tensor.size());
  uint64_t i = 0;
  WithElementType(tensor.dtype, [&](auto type) {
    for (; i < integers.size(); ++i) {
      const std::optional<int64_t> integer = Integer(Load<decltype(type)>(tensor, i));
      if (!integer) break;
      integers[i] = *integer;
    }
  });
  if (i == integers.size()) return integers;
  return absl::InvalidArgumentError(
      absl::StrCat("element ", i, " of ", ToString(tensor), " is not a whole number of 64 bits"));
}

}  // namespace cvae
