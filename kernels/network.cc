#include "kernels/network.h"

#include <utility>

namespace cvae {
namespace {

void AddLinears(std::vector<const Linear*> linears, Network* network) {
  NetworkStage stage;
  stage.in = network->out;
  for (const Linear* linear : linears) stage.out += linear->out;
  stage.linears = std::move(linears);
  network->out = stage.out;
  network->stages.push_back(std::move(stage));
}

void AddActivation(Activation activation, Network* network) {
  const bool fits = !network->stages.empty() && network->stages.back().activation == Activation::kIdentity;
  if (!fits) network->stages.push_back({{}, Activation::kIdentity, network->out, network->out});
  network->stages.back().activation = activation;
}

// `head` linears, if any, end the list together.
Network MakeNetwork(const Layers& layers, int dense, int condition, std::vector<const Linear*> head) {
  Network network;
  network.dense = dense;
  network.in = network.out = dense + condition;
  for (const Operation& operation : layers) {
    if (const auto* linear = std::get_if<Linear>(&operation)) {
      AddLinears({linear}, &network);
    } else {
      AddActivation(std::get<Activation>(operation), &network);
    }
  }
  if (!head.empty()) AddLinears(std::move(head), &network);
  if (!network.stages.empty()) {
    network.output = std::exchange(network.stages.back().activation, Activation::kIdentity);
  }
  return network;
}

}  // namespace

Network EncoderNetwork(const Model& model) {
  return MakeNetwork(model.encoder->layers, model.input_width, model.condition_width,
                     {&model.encoder->mu, &model.encoder->logvar});
}

Network DecoderNetwork(const Model& model) {
  return MakeNetwork(model.decoder, model.latent_width, model.condition_width, {});
}

}  // namespace cvae
