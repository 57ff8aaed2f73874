// The JSON header of a safetensors file; for safetensors.cc.

#ifndef CVAE_BASE_SAFETENSORS_HEADER_H_
#define CVAE_BASE_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/safetensors.h"

namespace cvae::internal {

// What the header says of a tensor, not yet compared with the bytes behind it.
struct HeaderEntry {
  std::optional<DType> dtype;
  std::optional<std::vector<uint64_t>> shape;
  std::optional<std::vector<uint64_t>> offsets;  // begin and end, into the bytes after the header
};

struct Header {
  std::map<std::string, HeaderEntry, std::less<>> tensors;  // all fields set, two offsets each
  MetadataMap metadata;
};

// Parses a header as it streams by: memory is bounded by what the schema admits, whatever the JSON holds.
// INVALID_ARGUMENT for JSON that is none, and for anything the schema does not have.
absl::StatusOr<Header> ParseHeader(std::string_view json);

}  // namespace cvae::internal

#endif  // CVAE_BASE_SAFETENSORS_HEADER_H_
