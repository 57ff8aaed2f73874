// The sum scheme of sums-inl.h by a warp: lane i holds partial i.

#ifndef CVAE_KERNELS_NUMERICS_WARP_SUM_CUH_
#define CVAE_KERNELS_NUMERICS_WARP_SUM_CUH_

#include "kernels/numerics/numerics.h"

namespace cvae::scalar {

static_assert(kSumPartials == 32, "a partial for each lane of a warp");

// SumTree of the lanes' partials; the sum is lane 0's result. All 32 lanes must call it together.
__device__ __forceinline__ float WarpSumTree(float partial) {
  for (int half = kSumPartials / 2; half > 0; half /= 2) partial += __shfl_down_sync(0xffffffffu, partial, half);
  return partial;
}

}  // namespace cvae::scalar

#endif  // CVAE_KERNELS_NUMERICS_WARP_SUM_CUH_
