// The numerics as kernels, for numerics_cuda_test.cc. Pointers are to device memory; each call launches on the default
// stream and returns the launch's error.

#ifndef CVAE_TESTS_KERNELS_NUMERICS_NUMERICS_KERNELS_H_
#define CVAE_TESTS_KERNELS_NUMERICS_NUMERICS_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cvae {

// out[i] = function `index` of CVAE_NUMERICS_FUNCTIONS at (a[i], b[i], c[i]), i < n.
cudaError_t LaunchFunction(size_t index, const float* a, const float* b, const float* c, int n, float* out);

// Where in the noise a row's words come from.
struct NoisePlace {
  uint64_t seed;
  uint64_t row;
  uint32_t sample;
  uint32_t block;
};

// ours, curand [n, 4]: the random words of each place by Philox and by cuRAND.
cudaError_t LaunchNoiseWords(const NoisePlace* places, int n, uint32_t* ours, uint32_t* curand);

// eps [n, count]: the normals of latents 0 ... count - 1 of each place's seed, row and sample.
cudaError_t LaunchNormals(const NoisePlace* places, int n, int count, float* eps);

// The sums of squares of each row of d [n, count], by one thread and by one warp.
cudaError_t LaunchSums(const float* d, int n, int count, float* by_thread, float* by_warp);

}  // namespace cvae

#endif  // CVAE_TESTS_KERNELS_NUMERICS_NUMERICS_KERNELS_H_
