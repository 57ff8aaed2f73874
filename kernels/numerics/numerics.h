// The numerics for one float, on the host and in CUDA device code: cvae::scalar::Exp(float) and all the others.
//
// Every formula is written once, as a template over F (float here; VecF, a Highway vector, in numerics-inl.h), in the
// files that this one includes below. They have neither a guard nor a namespace of their own: this header puts them
// into cvae::scalar, numerics-inl.h into cvae::HWY_NAMESPACE once for each instruction set, because a template
// must stand in the text of the region that its instruction set is chosen for. So both may be used in one file:
//
//   #include "kernels/numerics/numerics.h"      // scalar::Exp(0.5f)
//   #include "kernels/numerics/numerics-inl.h"  // in a foreach_target file: Exp(VecF::Load(p)), also Exp(0.5f)
//
// The same operations in the same order give the same bits, whichever of them is used.

#ifndef CVAE_KERNELS_NUMERICS_NUMERICS_H_
#define CVAE_KERNELS_NUMERICS_NUMERICS_H_

#include <cstdint>
#include <type_traits>

#include "kernels/numerics/activation.h"
#include "kernels/numerics/latent.h"
#include "kernels/numerics/scalar.h"

namespace cvae::scalar {

// clang-format off
#include "kernels/numerics/math-inl.h"  // first: the others use it
#include "kernels/numerics/activations-inl.h"
#include "kernels/numerics/losses-inl.h"
#include "kernels/numerics/sums-inl.h"
#include "kernels/numerics/norms-inl.h"
#include "kernels/numerics/noise-inl.h"
// clang-format on

}  // namespace cvae::scalar

#endif  // CVAE_KERNELS_NUMERICS_NUMERICS_H_
