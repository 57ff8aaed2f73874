// The numerics for Highway's vectors: cvae::HWY_NAMESPACE::Exp(VecF) and all the others, once for each instruction set
// of a foreach_target file. numerics.h says how the two fit together, vector-inl.h what a VecF is.

#include <type_traits>

#include "kernels/numerics/activation.h"
#include "kernels/numerics/latent.h"
#include "kernels/numerics/vector-inl.h"

#if defined(CVAE_KERNELS_NUMERICS_NUMERICS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CVAE_KERNELS_NUMERICS_NUMERICS_INL_H_
#undef CVAE_KERNELS_NUMERICS_NUMERICS_INL_H_
#else
#define CVAE_KERNELS_NUMERICS_NUMERICS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace cvae {
namespace HWY_NAMESPACE {

// clang-format off
#include "kernels/numerics/math-inl.h"  // first: the others use it
#include "kernels/numerics/activations-inl.h"
#include "kernels/numerics/losses-inl.h"
#include "kernels/numerics/sums-inl.h"
#include "kernels/numerics/norms-inl.h"
#include "kernels/numerics/noise-inl.h"
// clang-format on

}  // namespace HWY_NAMESPACE
}  // namespace cvae
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
