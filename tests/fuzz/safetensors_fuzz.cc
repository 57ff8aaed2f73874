// Any bytes as a safetensors file: refused with a decent message, or parsed, converted and written back the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/safetensors.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cvae;
  const absl::StatusOr<Safetensors> file = Safetensors::Parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!file.ok()) {
    CheckRefusal(file.status());
    return 0;
  }
  for (const auto& [name, tensor] : file->tensors()) {
    CVAE_FUZZ_CHECK(ToFloats(tensor).size() == tensor.size());
    const absl::StatusOr<std::vector<int64_t>> integers = ToIntegers(tensor);
    CVAE_FUZZ_CHECK(!integers.ok() || integers->size() == tensor.size());
    CVAE_FUZZ_CHECK(!ToString(tensor).empty());
  }
  const absl::StatusOr<Safetensors> again = Safetensors::Parse(SerializeSafetensors(file->tensors(), file->metadata()));
  CVAE_FUZZ_CHECK(again.ok());
  CVAE_FUZZ_CHECK(again->metadata() == file->metadata());
  CVAE_FUZZ_CHECK(again->tensors().size() == file->tensors().size());
  for (const auto& [name, tensor] : file->tensors()) {
    const Tensor* other = again->Find(name);
    CVAE_FUZZ_CHECK(other != nullptr && other->dtype == tensor.dtype && other->shape == tensor.shape);
    CVAE_FUZZ_CHECK(other->data == tensor.data);
  }
  return 0;
}
