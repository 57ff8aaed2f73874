// The activations a layer list may name. To add one: a line here, its name in model/operations.cc, its formula in
// activations-inl.h.

#ifndef CVAE_KERNELS_NUMERICS_ACTIVATION_H_
#define CVAE_KERNELS_NUMERICS_ACTIVATION_H_

namespace cvae {

enum class Activation : int { kIdentity, kRelu, kSigmoid };

}  // namespace cvae

#endif  // CVAE_KERNELS_NUMERICS_ACTIVATION_H_
