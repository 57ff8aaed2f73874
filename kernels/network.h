// A layer list as an engine walks it: linears with the activation that follows each. What engines make of the weights
// is their own.

#ifndef CVAE_KERNELS_NETWORK_H_
#define CVAE_KERNELS_NETWORK_H_

#include <vector>

#include "kernels/model/model.h"

namespace cvae {

// One step: linears that read the same input and whose outputs stand side by side, if any, and an activation.
struct NetworkStage {
  std::vector<const Linear*> linears;  // the model's; none: the activation alone
  Activation activation = Activation::kIdentity;
  int in = 0;
  int out = 0;
};

// A layer list that reads a concatenation, [x, y] or [z, y].
struct Network {
  int dense = 0;  // columns of x or z; the condition's are the rest
  int in = 0;     // width of the concatenation
  int out = 0;
  std::vector<NetworkStage> stages;
  // The activation of the output, kept apart from the last stage: bce reads what is before it.
  Activation output = Activation::kIdentity;
};

// [x, y] -> [mu, logvar], 2 Z wide. REQUIRES an encoder. Valid as long as the model is.
Network EncoderNetwork(const Model& model);

// [z, y] -> x_hat. Valid as long as the model is.
Network DecoderNetwork(const Model& model);

}  // namespace cvae

#endif  // CVAE_KERNELS_NETWORK_H_
