#include "kernels/cpu/plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cvae::cpu {
namespace {

hwy::AlignedFreeUniquePtr<float[]> Zeros(size_t count) {
  auto floats = hwy::AllocateAligned<float>(std::max<size_t>(count, 1));
  std::fill_n(floats.get(), count, 0.0f);
  return floats;
}

// The stages of a layer list; `head` linears, if any, end it together.
Network MakeNetwork(const Layers& layers, int dense, int condition, const std::vector<const Linear*>& head) {
  Network network;
  network.dense = dense;
  network.in = dense + condition;
  network.out = network.in;
  const auto add_linear = [&network](const std::vector<const Linear*>& linears) {
    network.stages.push_back({std::make_unique<PackedLinear>(Pack(linears)), Activation::kIdentity});
    network.out = network.stages.back().linear->out;
  };
  for (const Operation& operation : layers) {
    if (const auto* linear = std::get_if<Linear>(&operation)) {
      add_linear({linear});
    } else {
      const Activation activation = std::get<Activation>(operation);
      const bool fits = !network.stages.empty() && network.stages.back().activation == Activation::kIdentity;
      if (!fits) network.stages.emplace_back();
      network.stages.back().activation = activation;
    }
  }
  if (!head.empty()) add_linear(head);
  if (!network.stages.empty()) {
    network.output = std::exchange(network.stages.back().activation, Activation::kIdentity);
  }
  network.max_width = PaddedWidth(network.in);
  for (const Stage& stage : network.stages) {
    if (stage.linear != nullptr) network.max_width = std::max(network.max_width, PaddedWidth(stage.linear->out));
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
      bce(model.loss.element == LossElement::kBce) {
  if (model.encoder) {
    encoder = MakeNetwork(model.encoder->layers, model.input_width, model.condition_width,
                          {&model.encoder->mu, &model.encoder->logvar});
  }
  decoder = MakeNetwork(model.decoder, model.latent_width, model.condition_width, {});
  int column = 0;
  for (const ConditionPart& part : model.condition) {
    condition.push_back({column, part.width});
    column += part.width;
  }
}

}  // namespace cvae::cpu
