// What a model does with its latents beside the usual: plain data, which CUDA device code reads too. The formulas are
// in losses-inl.h.

#ifndef CVAE_KERNELS_NUMERICS_LATENT_H_
#define CVAE_KERNELS_NUMERICS_LATENT_H_

#include <limits>

namespace cvae {

struct LatentSpec {
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  // The encoder's logvar is clamped to this range before anything uses it. Infinite: not at all.
  float logvar_min = -kInfinity;
  float logvar_max = kInfinity;
  // The variance is exp(logvar) + variance_eps; at least 0.
  float variance_eps = 0;
  // With a variance_eps: the KL divergence takes logvar, not log(variance).
  bool kl_of_logvar = false;
  // z that Generate draws is clamped to this range.
  float z_min = -kInfinity;
  float z_max = kInfinity;
};

}  // namespace cvae

#endif  // CVAE_KERNELS_NUMERICS_LATENT_H_
