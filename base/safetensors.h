// Safetensors files: read from untrusted bytes, and written.
//
// The format: eight bytes little-endian N, N bytes of a JSON object, then the tensors' bytes. The object maps a name to
// {"dtype", "shape", "data_offsets": [begin, end]} and "__metadata__" to an object of strings.
// https://github.com/huggingface/safetensors (section Format).

#ifndef CVAE_BASE_SAFETENSORS_H_
#define CVAE_BASE_SAFETENSORS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/tensor.h"

namespace cvae {

using TensorMap = std::map<std::string, Tensor, std::less<>>;
using MetadataMap = std::map<std::string, std::string, std::less<>>;

// A parsed file, with its bytes. Movable; its tensors stay valid across moves.
class Safetensors {
 public:
  // The format's own limit on N.
  static constexpr uint64_t kMaxHeaderSize = 100'000'000;

  // Parses a whole file's bytes, taking them. Strict, as the bytes are untrusted: INVALID_ARGUMENT, naming the tensor
  // and what was expected, for a length beyond the bytes, JSON that is none, a duplicate name, an unknown dtype, a
  // shape or an offset that overflows or disagrees with the other, an overlap, a gap, or bytes that no tensor owns.
  // Bytes that are plainly something else (a pickle or PyTorch zip, HDF5, HTML, an empty file) are told so, with the
  // line of Python that writes a safetensors file. Names in messages are escaped and cut.
  static absl::StatusOr<Safetensors> Parse(std::string bytes);

  // Reads the file at `path` and parses it; each error's message begins with the path. Errors of reading are ReadFile's
  // (base/file.h).
  static absl::StatusOr<Safetensors> Read(const std::string& path);

  const TensorMap& tensors() const { return tensors_; }
  const MetadataMap& metadata() const { return metadata_; }
  // The whole file.
  std::string_view bytes() const { return *bytes_; }

  // Null if there is none of that name.
  const Tensor* Find(std::string_view name) const;

 private:
  Safetensors() = default;

  std::unique_ptr<const std::string> bytes_;  // behind a pointer, so that a move leaves the tensors' views valid
  TensorMap tensors_;
  MetadataMap metadata_;
};

// A file's bytes with these tensors and metadata; tensors are laid out in the order of their names, largest alignment
// first, and the data begins at a multiple of 8. REQUIRES each tensor's data to have its shape's size, and names and
// metadata in UTF-8 (other bytes are replaced).
std::string SerializeSafetensors(const TensorMap& tensors, const MetadataMap& metadata = {});

}  // namespace cvae

#endif  // CVAE_BASE_SAFETENSORS_H_
