// A tensor of a safetensors file: a view of its bytes, and their conversion to floats and integers.

#ifndef CVAE_BASE_TENSOR_H_
#define CVAE_BASE_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace cvae {

enum class DType { kBool, kU8, kI8, kU16, kI16, kF16, kBF16, kU32, kI32, kF32, kU64, kI64, kF64 };

// The format's own name, "F32".
const char* DTypeName(DType dtype);
// The dtype of that name, or nothing.
std::optional<DType> DTypeFromName(std::string_view name);
// Every name, for messages: "BOOL, U8, ...".
std::string DTypeNames();
// Bytes an element.
int DTypeSize(DType dtype);

// One tensor of a file. `data` points into the file's bytes, whose owner must outlive it; it may be unaligned.
struct Tensor {
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;  // empty: a scalar
  std::string_view data;        // row-major, little-endian; its size is the shape's

  // Elements; 1 for a scalar. Never overflows: Safetensors::Parse has checked.
  uint64_t size() const { return data.size() / DTypeSize(dtype); }
};

// "F32 [128, 266]", for messages; of many dimensions the first eight.
std::string ToString(const Tensor& tensor);

// The tensor widened to float32 (F16, BF16 and F32 exactly; F64 rounded to nearest; integers and Bool rounded to
// nearest), in file order.
std::vector<float> ToFloats(const Tensor& tensor);
// The tensor's integers. INVALID_ARGUMENT, naming the first element that is none, unless its dtype is an integer one or
// its floats are all whole and in range.
absl::StatusOr<std::vector<int64_t>> ToIntegers(const Tensor& tensor);

// An IEEE half and a bfloat16 as floats, exactly; a NaN stays one.
float HalfToFloat(uint16_t bits);
float BFloat16ToFloat(uint16_t bits);

}  // namespace cvae

#endif  // CVAE_BASE_TENSOR_H_
