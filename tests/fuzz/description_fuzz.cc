// Any text as the description beside the tensors of a good file. Past the container, whose length field and nested
// escapes mutations rarely survive.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/check.h"
#include "tests/kernels/model/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cvae;
  static const ModelFile file = FullFile();
  static const TensorMap tensors = [] {
    TensorMap views;
    for (const auto& [name, array] : file.tensors) views[name] = Tensor{array.dtype, array.shape, array.data};
    return views;
  }();
  // The writer replaces what is not UTF-8, so this always parses.
  const std::string description(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Safetensors> parsed = Safetensors::Parse(SerializeSafetensors(tensors, {{"cvae", description}}));
  CVAE_FUZZ_CHECK(parsed.ok());
  const absl::StatusOr<Model> model = ParseModel(*parsed);
  if (model.ok()) {
    CheckModel(*model);
  } else {
    CheckRefusal(model.status());
  }
  return 0;
}
