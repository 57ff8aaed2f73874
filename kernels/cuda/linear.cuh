// Linears of a tile of rows in the canonical order: from the bias, k ascending, one accumulator an output. Weights come
// straight from global memory, read once by a block and ahead of their use: they stay in the L2 cache, and the L1 gives
// them to the other warps.

#ifndef CVAE_KERNELS_CUDA_LINEAR_CUH_
#define CVAE_KERNELS_CUDA_LINEAR_CUH_

#include "kernels/cuda/phases.cuh"

namespace cvae::cuda {

// The shape of a thread's work in a tile of kTileRows rows and kPanel columns: 8 rows, and of each run of 32 columns
// the two neighbours 2 c and 2 c + 1. So a thread holds all columns of the panel that belong to two partials of a row's
// sum.
struct TileThread {
  static constexpr int kRows = 8;
  static constexpr int kRuns = kPanel / 32;
  static constexpr int kThreads = kTileRows / kRows * 16;

  int row = static_cast<int>(threadIdx.x) / 16 * kRows;
  int column = static_cast<int>(threadIdx.x) % 16 * 2;  // in a run

  float acc[kRows][kRuns * 2];
};

// Adds all inputs to the accumulators of the first kRuns runs. in: the thread's rows of column 0; weight: its columns
// of input 0.
template <int kRuns>
__device__ __forceinline__ void AddInputs(const StageParams& stage, const float* in, const float* weight,
                                          float (&acc)[TileThread::kRows][TileThread::kRuns * 2]) {
  float2 next[kTileAhead][kRuns];
  const auto fetch = [&](int k) {
#pragma unroll
    for (int u = 0; u < kTileAhead; ++u) {
#pragma unroll
      for (int g = 0; g < kRuns; ++g) {
        next[u][g] =
            __ldg(reinterpret_cast<const float2*>(weight + static_cast<size_t>(k + u) * stage.padded + g * 32));
      }
    }
  };
  const auto add = [&](int k, const float2(&w)[kRuns]) {
    const float4 low = *reinterpret_cast<const float4*>(in + k * kTileStride);
    const float4 high = *reinterpret_cast<const float4*>(in + k * kTileStride + 4);
    const float a[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int g = 0; g < kRuns; ++g) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        acc[i][2 * g] = scalar::Fma(w[g].x, a[i], acc[i][2 * g]);
        acc[i][2 * g + 1] = scalar::Fma(w[g].y, a[i], acc[i][2 * g + 1]);
      }
    }
  };
  fetch(0);
  int k = 0;
  for (; k + kTileAhead <= stage.in; k += kTileAhead) {
    float2 now[kTileAhead][kRuns];
#pragma unroll
    for (int u = 0; u < kTileAhead; ++u) {
#pragma unroll
      for (int g = 0; g < kRuns; ++g) now[u][g] = next[u][g];
    }
    fetch(k + kTileAhead);
#pragma unroll
    for (int u = 0; u < kTileAhead; ++u) add(k + u, now[u]);
  }
#pragma unroll
  for (int u = 0; u < kTileAhead - 1; ++u) {
    if (k + u < stage.in) add(k + u, next[u]);
  }
}

// The panel's outputs before the activation; without a linear, the inputs themselves. Columns behind `out` are
// undefined.
__device__ __forceinline__ void RunPanel(const StageParams& stage, int panel, const float* in, TileThread& thread) {
  const int first = panel * kPanel + thread.column;
  if (stage.weight == nullptr) {
#pragma unroll
    for (int j = 0; j < TileThread::kRuns * 2; ++j) {
      const int column = min(first + j / 2 * 32 + j % 2, stage.out - 1);
#pragma unroll
      for (int i = 0; i < TileThread::kRows; ++i) thread.acc[i][j] = in[column * kTileStride + thread.row + i];
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < TileThread::kRuns * 2; ++j) {
    const float bias = __ldg(stage.bias + first + j / 2 * 32 + j % 2);
#pragma unroll
    for (int i = 0; i < TileThread::kRows; ++i) thread.acc[i][j] = bias;
  }
  const float* weight = stage.weight + first;
  switch (min((stage.out - panel * kPanel + 31) / 32, TileThread::kRuns)) {
    case 1:
      AddInputs<1>(stage, in + thread.row, weight, thread.acc);
      break;
    case 2:
      AddInputs<2>(stage, in + thread.row, weight, thread.acc);
      break;
    case 3:
      AddInputs<3>(stage, in + thread.row, weight, thread.acc);
      break;
    default:
      AddInputs<4>(stage, in + thread.row, weight, thread.acc);
      break;
  }
    // + 0: the sign of a zero, all that a product with 0 can have changed, is gone.
#pragma unroll
  for (int j = 0; j < TileThread::kRuns * 2; ++j) {
#pragma unroll
    for (int i = 0; i < TileThread::kRows; ++i) thread.acc[i][j] = thread.acc[i][j] + 0.0f;
  }
}

// One panel of a stage, from tile to tile.
__device__ __forceinline__ void RunTilePanel(const StageParams& stage, int panel, const float* in, float* out) {
  TileThread thread;
  RunPanel(stage, panel, in, thread);
#pragma unroll
  for (int j = 0; j < TileThread::kRuns * 2; ++j) {
    const int column = panel * kPanel + thread.column + j / 2 * 32 + j % 2;
    if (column >= stage.out) continue;
    float v[TileThread::kRows];
#pragma unroll
    for (int i = 0; i < TileThread::kRows; ++i) v[i] = Activate(stage.activation, thread.acc[i][j]);
    float4* to = reinterpret_cast<float4*>(out + column * kTileStride + thread.row);
    to[0] = make_float4(v[0], v[1], v[2], v[3]);
    to[1] = make_float4(v[4], v[5], v[6], v[7]);
  }
}

// A stage for kFewRows rows: a thread takes whole columns.
__device__ __forceinline__ void RunFewStage(const StageParams& stage, const float* in, float* out) {
  for (int column = threadIdx.x; column < stage.out; column += blockDim.x) {
    float4 acc;
    if (stage.weight == nullptr) {
      acc = *reinterpret_cast<const float4*>(in + column * kFewStride);
    } else {
      const float* weight = stage.weight + column;
      const float bias = __ldg(stage.bias + column);
      acc = make_float4(bias, bias, bias, bias);
      float next[kFewAhead];
      const auto fetch = [&](int k) {
#pragma unroll
        for (int u = 0; u < kFewAhead; ++u) next[u] = __ldg(weight + static_cast<size_t>(k + u) * stage.padded);
      };
      const auto add = [&](int k, float w) {
        const float4 a = *reinterpret_cast<const float4*>(in + k * kFewStride);
        acc.x = scalar::Fma(w, a.x, acc.x);
        acc.y = scalar::Fma(w, a.y, acc.y);
        acc.z = scalar::Fma(w, a.z, acc.z);
        acc.w = scalar::Fma(w, a.w, acc.w);
      };
      fetch(0);
      int k = 0;
      for (; k + kFewAhead <= stage.in; k += kFewAhead) {
        float now[kFewAhead];
#pragma unroll
        for (int u = 0; u < kFewAhead; ++u) now[u] = next[u];
        fetch(k + kFewAhead);
#pragma unroll
        for (int u = 0; u < kFewAhead; ++u) add(k + u, now[u]);
      }
#pragma unroll
      for (int u = 0; u < kFewAhead - 1; ++u) {
        if (k + u < stage.in) add(k + u, next[u]);
      }
      acc.x = acc.x + 0.0f;
      acc.y = acc.y + 0.0f;
      acc.z = acc.z + 0.0f;
      acc.w = acc.w + 0.0f;
    }
    acc.x = Activate(stage.activation, acc.x);
    acc.y = Activate(stage.activation, acc.y);
    acc.z = Activate(stage.activation, acc.z);
    acc.w = Activate(stage.activation, acc.w);
    *reinterpret_cast<float4*>(out + column * kFewStride) = acc;
  }
}

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_LINEAR_CUH_
