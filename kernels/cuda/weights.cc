#include "kernels/cuda/weights.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cvae::cuda {
namespace {

constexpr size_t kAlign = 256;  // bytes: whole lines of the L2 cache

int Padded(int columns) { return (columns + kPanel - 1) / kPanel * kPanel; }

// Memory to be: its parts are laid out on the host first, as offsets.
class Layout {
 public:
  // Zeros at the next aligned place; their offset.
  size_t Take(size_t bytes) {
    const size_t offset = bytes_.size();
    bytes_.resize((offset + bytes + kAlign - 1) / kAlign * kAlign);
    return offset;
  }

  template <class T>
  T* At(size_t offset) {
    return reinterpret_cast<T*>(bytes_.data() + offset);
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Pointers are offsets until the memory is there.
template <class T>
const T* AsPointer(size_t offset) {
  return reinterpret_cast<const T*>(offset);
}

StageParams Pack(const NetworkStage& stage, Layout* layout) {
  StageParams params;
  params.in = stage.in;
  params.out = stage.out;
  params.padded = Padded(stage.out);
  params.activation = stage.activation;
  if (stage.linears.empty()) return params;
  const size_t padded = params.padded;
  const size_t weight = layout->Take(padded * stage.in * sizeof(float));
  const size_t bias = layout->Take(padded * sizeof(float));
  size_t output = 0;
  for (const Linear* linear : stage.linears) {
    for (int row = 0; row < linear->out; ++row, ++output) {
      const float* from = linear->weight.data() + static_cast<size_t>(row) * linear->in;
      float* to = layout->At<float>(weight) + output;
      for (int k = 0; k < linear->in; ++k) to[k * padded] = from[k];
      layout->At<float>(bias)[output] = linear->bias[row];
    }
  }
  params.weight = AsPointer<float>(weight);  // not null: the condition's parts are at offset 0
  params.bias = AsPointer<float>(bias);
  return params;
}

std::vector<StageParams> PackAll(const Network& network, Layout* layout) {
  std::vector<StageParams> stages;
  for (const NetworkStage& stage : network.stages) stages.push_back(Pack(stage, layout));
  return stages;
}

void PlaceAt(const std::byte* base, std::vector<StageParams>* stages) {
  for (StageParams& stage : *stages) {
    if (stage.weight == nullptr) continue;
    stage.weight = reinterpret_cast<const float*>(base + reinterpret_cast<size_t>(stage.weight));
    stage.bias = reinterpret_cast<const float*>(base + reinterpret_cast<size_t>(stage.bias));
  }
}

NetworkParams ParamsOf(const Network& network, const std::vector<StageParams>& stages) {
  NetworkParams params;
  params.dense = network.dense;
  params.in = network.in;
  params.out = network.out;
  params.output = network.output;
  if (stages.size() <= kMaxFusedStages) {
    params.count = static_cast<int>(stages.size());
    std::copy(stages.begin(), stages.end(), params.stages);
  }
  return params;
}

}  // namespace

absl::StatusOr<ResidentModel> Upload(const Model& model, const Network* encoder, const Network& decoder,
                                     const Plan& plan) {
  ResidentModel resident;
  Layout layout;
  const size_t parts = layout.Take(std::max<size_t>(1, model.condition.size()) * sizeof(PartParams));
  int column = 0;
  for (size_t i = 0; i < model.condition.size(); ++i) {
    layout.At<PartParams>(parts)[i] = {column, model.condition[i].width};
    column += model.condition[i].width;
  }
  if (encoder != nullptr) resident.encoder = PackAll(*encoder, &layout);
  resident.decoder = PackAll(decoder, &layout);
  // What is read ahead of a last input, and never used.
  int widest = 0;
  for (const auto* stages : {&resident.encoder, &resident.decoder}) {
    for (const StageParams& stage : *stages) widest = std::max(widest, stage.padded);
  }
  layout.Take(static_cast<size_t>(std::max(kFewAhead, kTileAhead)) * widest * sizeof(float));

  const std::vector<std::byte>& bytes = layout.bytes();
  CVAE_ASSIGN_OR_RETURN(resident.memory, AllocateDevice(bytes.size(), "the weights"));
  std::byte* const base = resident.memory.get();
  CVAE_RETURN_IF_CUDA_ERROR(cudaMemcpy(base, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  PlaceAt(base, &resident.encoder);
  PlaceAt(base, &resident.decoder);

  ModelParams& params = resident.params;
  if (encoder != nullptr) params.encoder = ParamsOf(*encoder, resident.encoder);
  params.decoder = ParamsOf(decoder, resident.decoder);
  params.parts = reinterpret_cast<const PartParams*>(base + parts);
  params.part_count = static_cast<int>(model.condition.size());
  params.condition = model.condition_width;
  params.latent = model.latent_width;
  params.latent_spec = model.latent;
  params.has_encoder = encoder != nullptr;
  params.bce = model.loss.element == LossElement::kBce;
  params.widths = plan.widths;
  params.tile_widths = plan.tile_widths;
  return resident;
}

}  // namespace cvae::cuda
