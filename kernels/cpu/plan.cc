#include "kernels/cpu/plan.h"

#include <algorithm>

#include "kernels/network.h"

namespace cvae::cpu {
namespace {

hwy::AlignedFreeUniquePtr<float[]> Zeros(size_t count) {
  auto floats = hwy::AllocateAligned<float>(std::max<size_t>(count, 1));
  std::fill_n(floats.get(), count, 0.0f);
  return floats;
}

PackedNetwork PackNetwork(const Network& from) {
  PackedNetwork network;
  network.dense = from.dense;
  network.in = from.in;
  network.out = from.out;
  network.output = from.output;
  network.max_width = PaddedWidth(from.in);
  for (const NetworkStage& stage : from.stages) {
    network.stages.push_back({nullptr, stage.activation});
    if (stage.linears.empty()) continue;
    network.stages.back().linear = std::make_unique<PackedLinear>(Pack(stage.linears));
    network.max_width = std::max(network.max_width, PaddedWidth(stage.out));
  }
  return network;
}

}  // namespace

PackedLinear Pack(const std::vector<const Linear*>& linears) {
  PackedLinear packed;
  packed.in = linears.front()->in;
  for (const Linear* linear : linears) packed.out += linear->out;
  packed.panels = PaddedWidth(packed.out) / kPanel;
  packed.weight = Zeros(static_cast<size_t>(packed.panels) * packed.in * kPanel);
  packed.bias = Zeros(static_cast<size_t>(packed.panels) * kPanel);
  int output = 0;
  for (const Linear* linear : linears) {
    for (int row = 0; row < linear->out; ++row, ++output) {
      const float* from = linear->weight.data() + static_cast<size_t>(row) * linear->in;
      float* to = packed.weight.get() + static_cast<size_t>(output / kPanel) * packed.in * kPanel + output % kPanel;
      for (int k = 0; k < linear->in; ++k) to[static_cast<size_t>(k) * kPanel] = from[k];
      packed.bias[output] = linear->bias[row];
    }
  }
  return packed;
}

Plan::Plan(const Model& model)
    : has_encoder(model.encoder.has_value()),
      input_width(model.input_width),
      condition_width(model.condition_width),
      latent_width(model.latent_width),
      output_width(model.output_width),
      latent(model.latent),
      bce(model.loss.element == LossElement::kBce) {
  if (model.encoder) encoder = PackNetwork(EncoderNetwork(model));
  decoder = PackNetwork(DecoderNetwork(model));
  int column = 0;
  for (const ConditionPart& part : model.condition) {
    condition.push_back({column, part.width});
    column += part.width;
  }
}

}  // namespace cvae::cpu
