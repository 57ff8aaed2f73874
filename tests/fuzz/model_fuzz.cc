// Any bytes as a model file: refused with a decent message, or a model that keeps every promise of model.h.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/safetensors.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cvae;
  const absl::StatusOr<Safetensors> file = Safetensors::Parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!file.ok()) return 0;  // safetensors_fuzz looks into those
  const absl::StatusOr<Model> model = ParseModel(*file);
  if (model.ok()) {
    CheckModel(*model);
  } else {
    CheckRefusal(model.status());
  }
  return 0;
}
