// Safetensors files: read from untrusted bytes, and written.
//
// The format: eight bytes little-endian N, N bytes of a JSON object, then the tensors' bytes. The object maps a name to
// {"dtype", "shape", "data_offsets": [begin, end]} and "__metadata__" to an object of strings.
// https://github.com/huggingface/safetensors (section Format).

#ifndef CVAE_BASE_SAFETENSORS_H_
#define CVAE_BASE_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cvae {

enum class DType { kBool, kU8, kI8, kU16, kI16, kF16, kBF16, kU32, kI32, kF32, kU64, kI64, kF64 };

// The format's own name, "F32".
std::string_view DTypeName(DType dtype);
// Bytes an element.
int DTypeSize(DType dtype);

// One tensor of a file. `data` points into the file's bytes, whose owner must outlive it; it may be unaligned.
struct Tensor {
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;  // empty: a scalar
  std::string_view data;        // row-major, little-endian; its size is the shape's

  // Elements; 1 for a scalar. Never overflows: Parse has checked.
  uint64_t size() const { return data.size() / DTypeSize(dtype); }
};

// "F32 [128, 266]", for messages.
std::string ToString(const Tensor& tensor);

// The tensor widened to float32 (F16, BF16 and F32 exactly; F64 rounded to nearest; integers and Bool rounded to
// nearest), in file order.
std::vector<float> ToFloats(const Tensor& tensor);
// The tensor's integers. INVALID_ARGUMENT unless its dtype is an integer one or its floats are all whole and in range.
absl::StatusOr<std::vector<int64_t>> ToIntegers(const Tensor& tensor);

// A parsed file, with its bytes. Movable; its tensors stay valid across moves.
class Safetensors {
 public:
  // Parses a whole file's bytes, taking them. Strict, as the bytes are untrusted: INVALID_ARGUMENT, naming the tensor
  // and what was expected, for a length beyond the bytes, JSON that is none, a duplicate name, an unknown dtype, a shape
  // or an offset that overflows or disagrees with the other, an overlap, a gap, or bytes that no tensor owns. Bytes that
  // are plainly something else (a pickle or PyTorch zip, HDF5, HTML, an empty file) are told so, with the line of Python that
  // writes a safetensors file.
  static absl::StatusOr<Safetensors> Parse(std::string bytes);

  // Reads the file at `path` and parses it; each error's message begins with the path. NOT_FOUND, PERMISSION_DENIED or
  // INVALID_ARGUMENT (a directory) where the file cannot be read.
  static absl::StatusOr<Safetensors> Read(const std::string& path);

  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  // The whole file.
  std::string_view bytes() const { return *bytes_; }

  // Null if there is none of that name.
  const Tensor* Find(std::string_view name) const;

 private:
  Safetensors() = default;

  std::unique_ptr<const std::string> bytes_;  // behind a pointer, so that a move leaves the tensors' views valid
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

// A file's bytes with these tensors and metadata; tensors are laid out in the order of their names, largest alignment
// first, and the data begins at a multiple of 8. REQUIRES each tensor's data to have its shape's size.
std::string SerializeSafetensors(const std::map<std::string, Tensor, std::less<>>& tensors,
                                 const std::map<std::string, std::string, std::less<>>& metadata = {});

}  // namespace cvae

#endif  // CVAE_BASE_SAFETENSORS_H_
