#include "kernels/engine.h"

namespace cvae {
namespace {

size_t Aligned(size_t bytes) { return (bytes + kStagingAlign - 1) / kStagingAlign * kStagingAlign; }

}  // namespace

size_t StagingBytes(const Model& model, int max_rows) {
  // At worst every row is a span of its own, with every array that there is, each of its own alignment.
  const auto floats = [](int count) { return Aligned(static_cast<size_t>(count) * sizeof(float)); };
  const size_t condition = floats(model.condition_width) + Aligned(model.condition.size() * sizeof(int32_t));
  const size_t row =
      floats(model.input_width) + floats(model.output_width) + floats(model.latent_width) + 2 * condition;
  return row * static_cast<size_t>(max_rows);
}

}  // namespace cvae
