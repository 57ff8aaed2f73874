#include <curand_kernel.h>

#include "kernels/numerics/numerics.h"
#include "kernels/numerics/warp_sum.cuh"
#include "tests/kernels/numerics/functions.h"
#include "tests/kernels/numerics/numerics_kernels.h"

namespace cvae {
namespace {

constexpr int kThreads = 256;

int Blocks(int n) { return (n + kThreads - 1) / kThreads; }

__device__ int Thread() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// One structure a function, as the formulas must be compiled for the device, each in a kernel of its own.
#define CVAE_STRUCTURE(name, formula)                                                                                \
  struct name##Function {                                                                                            \
    static __device__ float Evaluate([[maybe_unused]] float a, [[maybe_unused]] float b, [[maybe_unused]] float c) { \
      using namespace scalar;                                                                                        \
      return formula;                                                                                                \
    }                                                                                                                \
  };
CVAE_NUMERICS_FUNCTIONS(CVAE_STRUCTURE)
#undef CVAE_STRUCTURE

template <class Function>
__global__ void FunctionKernel(const float* a, const float* b, const float* c, int n, float* out) {
  const int i = Thread();
  if (i < n) out[i] = Function::Evaluate(a[i], b[i], c[i]);
}

__global__ void NoiseWordsKernel(const NoisePlace* places, int n, uint32_t* ours, uint32_t* curand) {
  const int i = Thread();
  if (i >= n) return;
  const NoisePlace p = places[i];
  const scalar::Four<uint32_t> words = scalar::NoiseWords<uint32_t>(p.seed, p.row, p.sample, p.block);
  for (int k = 0; k < 4; ++k) ours[4 * i + k] = words.v[k];
  curandStatePhilox4_32_10_t state;
  curand_init(p.seed, p.row, 4 * (p.block + (uint64_t{p.sample} << 32)), &state);
  const uint4 theirs = curand4(&state);
  curand[4 * i] = theirs.x;
  curand[4 * i + 1] = theirs.y;
  curand[4 * i + 2] = theirs.z;
  curand[4 * i + 3] = theirs.w;
}

__global__ void NormalsKernel(const NoisePlace* places, int n, int count, float* eps) {
  const int i = Thread();
  if (i >= n) return;
  scalar::FillNormals<uint32_t>(places[i].seed, places[i].row, places[i].sample, count, eps + int64_t{i} * count);
}

__global__ void ThreadSumsKernel(const float* d, int n, int count, float* out) {
  const int i = Thread();
  if (i >= n) return;
  scalar::RowSum<float> sum;
  for (int j = 0; j < count; ++j) sum.AddSquare(j, d[int64_t{i} * count + j]);
  out[i] = sum.Total();
}

// A block, of one warp, a row.
__global__ void WarpSumsKernel(const float* d, int count, float* out) {
  float partial = 0.0f;
  for (int j = static_cast<int>(threadIdx.x); j < count; j += 32) {
    const float v = d[int64_t{blockIdx.x} * count + j];
    partial = scalar::Fma(v, v, partial);
  }
  partial = scalar::WarpSumTree(partial);
  if (threadIdx.x == 0) out[blockIdx.x] = partial;
}

}  // namespace

cudaError_t LaunchFunction(size_t index, const float* a, const float* b, const float* c, int n, float* out) {
  using Kernel = void (*)(const float*, const float*, const float*, int, float*);
#define CVAE_KERNEL(name, formula) FunctionKernel<name##Function>,
  static const Kernel kernels[] = {CVAE_NUMERICS_FUNCTIONS(CVAE_KERNEL)};
#undef CVAE_KERNEL
  kernels[index]<<<Blocks(n), kThreads>>>(a, b, c, n, out);
  return cudaGetLastError();
}

cudaError_t LaunchNoiseWords(const NoisePlace* places, int n, uint32_t* ours, uint32_t* curand) {
  NoiseWordsKernel<<<Blocks(n), kThreads>>>(places, n, ours, curand);
  return cudaGetLastError();
}

cudaError_t LaunchNormals(const NoisePlace* places, int n, int count, float* eps) {
  NormalsKernel<<<Blocks(n), kThreads>>>(places, n, count, eps);
  return cudaGetLastError();
}

cudaError_t LaunchSums(const float* d, int n, int count, float* by_thread, float* by_warp) {
  ThreadSumsKernel<<<Blocks(n), kThreads>>>(d, n, count, by_thread);
  WarpSumsKernel<<<n, 32>>>(d, count, by_warp);
  return cudaGetLastError();
}

}  // namespace cvae
