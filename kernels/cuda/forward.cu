// The forward pass as one launch: a block takes a tile of rows from x to x_hat and losses, with its activations in
// shared memory. Two forms: `few`, four rows a block, for latency; `tile`, 64 rows a block, for throughput. And as a
// launch a stage, with the activations in device memory, for models that do not fit.

#include "kernels/cuda/forward.h"
#include "kernels/cuda/linear.cuh"

namespace cvae::cuda {
namespace {

constexpr int kFewThreads = 256;

template <int kRows>
__device__ void FindRows(const BatchParams& batch, RowRef* rows) {
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) rows[i] = FindRow(batch, blockIdx.x * kRows + i);
  __syncthreads();
}

// Whether `wanted` is true of any of the block's rows.
template <int kRows, class Wanted>
__device__ bool AnyRow(const RowRef* rows, const Wanted& wanted) {
  bool any = false;
  for (int i = threadIdx.x; i < kRows; i += blockDim.x) any |= wanted(rows[i]);
  return __syncthreads_or(any);
}

// The encoder and z. On return `in` holds [z, y] and `out` is free; false if no row needs more. The same for all
// threads.
template <int kRows, int kStride, class RunStage>
__device__ bool EncodeTile(const ModelParams& model, const RowRef* rows, float*& in, float*& out,
                           const RunStage& run_stage) {
  const bool encodes = AnyRow<kRows>(rows, [](const RowRef& row) { return IsEncoded(row); });
  if (encodes) {
    LoadX<kRows, kStride>(rows, model.encoder.dense, in);
    LoadCondition<kRows, kStride, false>(rows, model, model.encoder.dense, in);
    __syncthreads();
  }
  // The buffers take turns also where no row is encoded: where z lies depends on the model alone.
  for (int i = 0; i < model.encoder.count; ++i) {
    if (encodes) {
      run_stage(model.encoder.stages[i], in, out);
      __syncthreads();
    }
    float* const swapped = in;
    in = out;
    out = swapped;
  }
  DrawNoise<kRows, kStride>(rows, model.latent, out);
  const bool decodes = AnyRow<kRows>(rows, [](const RowRef& row) { return WantsDecoder(row); });
  if (decodes) LoadCondition<kRows, kStride, true>(rows, model, model.decoder.dense, out);
  MakeLatents<kRows, kStride>(rows, model.latent, model.latent_spec, in, out);
  __syncthreads();
  float* const swapped = in;
  in = out;
  out = swapped;
  return decodes;
}

// The last stage of a tile: outputs and losses from the accumulators.
__device__ void WriteTile(const ModelParams& model, const RowRef* rows, const StageParams& stage, const float* in) {
  const NetworkParams& decoder = model.decoder;
  float partial[TileThread::kRows][2] = {};
  const int panels = (stage.out + kPanel - 1) / kPanel;
  for (int panel = 0; panel < panels; ++panel) {
    TileThread thread;
    RunPanel(stage, panel, in, thread);
#pragma unroll
    for (int i = 0; i < TileThread::kRows; ++i) {
      const DecodedRow to = DecodedRowOf(rows[thread.row + i], decoder.out);
#pragma unroll
      for (int j = 0; j < TileThread::kRuns * 2; ++j) {
        const int column = panel * kPanel + thread.column + j / 2 * 32 + j % 2;
        if (column < stage.out && (to.x_hat != nullptr || to.target != nullptr)) {
          WriteColumn(to, decoder.output, model.bce, column, thread.acc[i][j], partial[i][j % 2]);
        }
      }
    }
  }
  // The fixed tree over 32 partials, two a thread: p[i] += p[i + 16], 8, 4, 2 across threads, then 1.
#pragma unroll
  for (int i = 0; i < TileThread::kRows; ++i) {
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2) {
      partial[i][0] += __shfl_down_sync(0xffffffffu, partial[i][0], distance, 16);
      partial[i][1] += __shfl_down_sync(0xffffffffu, partial[i][1], distance, 16);
    }
    if (threadIdx.x % 16 != 0) continue;
    const DecodedRow to = DecodedRowOf(rows[threadIdx.x / 16 * TileThread::kRows + i], decoder.out);
    if (to.recon != nullptr) *to.recon = scalar::CanonicalNaN(partial[i][0] + partial[i][1]);
  }
}

// Two blocks an SM: what one waits for, the other computes over.
__global__ void __launch_bounds__(TileThread::kThreads, 2)
    FusedTileKernel(const __grid_constant__ ModelParams model, const __grid_constant__ BatchParams batch) {
  extern __shared__ float4 shared[];
  RowRef* rows = reinterpret_cast<RowRef*>(shared);
  float* in = reinterpret_cast<float*>(rows + kTileRows);
  float* out = in + model.tile_widths.a * kTileStride;
  FindRows<kTileRows>(batch, rows);
  const auto run_stage = [](const StageParams& stage, const float* from, float* to) {
    for (int panel = 0; panel * kPanel < stage.out; ++panel) RunTilePanel(stage, panel, from, to);
  };
  if (!EncodeTile<kTileRows, kTileStride>(model, rows, in, out, run_stage)) return;
  for (int i = 0; i + 1 < model.decoder.count; ++i) {
    run_stage(model.decoder.stages[i], in, out);
    __syncthreads();
    float* const swapped = in;
    in = out;
    out = swapped;
  }
  if (model.decoder.count > 0) {
    WriteTile(model, rows, model.decoder.stages[model.decoder.count - 1], in);
  } else {
    WriteDecoded<kTileRows, kTileStride>(rows, model.decoder, model.bce, in);
  }
}

__global__ void __launch_bounds__(kFewThreads)
    FusedFewKernel(const __grid_constant__ ModelParams model, const __grid_constant__ BatchParams batch) {
  extern __shared__ float4 shared[];
  RowRef* rows = reinterpret_cast<RowRef*>(shared);
  float* in = reinterpret_cast<float*>(rows + kFewRows);
  float* out = in + model.widths.a * kFewStride;
  FindRows<kFewRows>(batch, rows);
  const auto run_stage = [](const StageParams& stage, const float* from, float* to) { RunFewStage(stage, from, to); };
  if (!EncodeTile<kFewRows, kFewStride>(model, rows, in, out, run_stage)) return;
  for (int i = 0; i < model.decoder.count; ++i) {
    run_stage(model.decoder.stages[i], in, out);
    __syncthreads();
    float* const swapped = in;
    in = out;
    out = swapped;
  }
  WriteDecoded<kFewRows, kFewStride>(rows, model.decoder, model.bce, in);
}

// The same a launch each; a tile's activations are `width` columns of its own in `in` and `out`.

__global__ void LoadKernel(const __grid_constant__ ModelParams model, const __grid_constant__ BatchParams batch,
                           float* out, int width) {
  __shared__ RowRef rows[kTileRows];
  FindRows<kTileRows>(batch, rows);
  out += static_cast<size_t>(blockIdx.x) * width * kTileStride;
  LoadX<kTileRows, kTileStride>(rows, model.encoder.dense, out);
  LoadCondition<kTileRows, kTileStride, false>(rows, model, model.encoder.dense, out);
}

__global__ void __launch_bounds__(TileThread::kThreads, 2)
    StageKernel(const __grid_constant__ StageParams stage, const float* in, int in_width, float* out, int out_width) {
  in += static_cast<size_t>(blockIdx.x) * in_width * kTileStride;
  out += static_cast<size_t>(blockIdx.x) * out_width * kTileStride;
  RunTilePanel(stage, blockIdx.y, in, out);
}

__global__ void LatentKernel(const __grid_constant__ ModelParams model, const __grid_constant__ BatchParams batch,
                             const float* head, int head_width, float* z, int z_width) {
  __shared__ RowRef rows[kTileRows];
  FindRows<kTileRows>(batch, rows);
  head += static_cast<size_t>(blockIdx.x) * head_width * kTileStride;
  z += static_cast<size_t>(blockIdx.x) * z_width * kTileStride;
  DrawNoise<kTileRows, kTileStride>(rows, model.latent, z);
  LoadCondition<kTileRows, kTileStride, true>(rows, model, model.decoder.dense, z);
  __syncthreads();
  MakeLatents<kTileRows, kTileStride>(rows, model.latent, model.latent_spec, head, z);
}

__global__ void OutputKernel(const __grid_constant__ ModelParams model, const __grid_constant__ BatchParams batch,
                             const float* in, int width) {
  __shared__ RowRef rows[kTileRows];
  FindRows<kTileRows>(batch, rows);
  in += static_cast<size_t>(blockIdx.x) * width * kTileStride;
  WriteDecoded<kTileRows, kTileStride>(rows, model.decoder, model.bce, in);
}

constexpr int kRowThreads = 512;  // of the kernels that take a warp a row

int Blocks(int rows, int block) { return (rows + block - 1) / block; }

}  // namespace

size_t TileSharedBytes(const ModelParams& model) {
  return kTileRows * sizeof(RowRef) +
         static_cast<size_t>(model.tile_widths.a + model.tile_widths.b) * kTileStride * sizeof(float);
}

size_t FewSharedBytes(const ModelParams& model) {
  return kFewRows * sizeof(RowRef) + static_cast<size_t>(model.widths.a + model.widths.b) * kFewStride * sizeof(float);
}

cudaError_t PrepareFused(size_t tile_bytes, size_t few_bytes) {
  // Per function and device, and only ever raised: engines of several models share them.
  const auto raise = [](const void* function, size_t bytes) {
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, function);
    if (error != cudaSuccess || static_cast<size_t>(attributes.maxDynamicSharedSizeBytes) >= bytes) return error;
    return cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  };
  const cudaError_t error = raise(reinterpret_cast<const void*>(FusedTileKernel), tile_bytes);
  return error != cudaSuccess ? error : raise(reinterpret_cast<const void*>(FusedFewKernel), few_bytes);
}

cudaError_t LaunchFusedTile(const ModelParams& model, const BatchParams& batch, cudaStream_t stream) {
  FusedTileKernel<<<Blocks(batch.rows, kTileRows), TileThread::kThreads, TileSharedBytes(model), stream>>>(model,
                                                                                                           batch);
  return cudaGetLastError();
}

cudaError_t LaunchFusedFew(const ModelParams& model, const BatchParams& batch, cudaStream_t stream) {
  FusedFewKernel<<<Blocks(batch.rows, kFewRows), kFewThreads, FewSharedBytes(model), stream>>>(model, batch);
  return cudaGetLastError();
}

cudaError_t LaunchLayered(const ModelParams& model, const StageParams* encoder, int encoder_count,
                          const StageParams* decoder, int decoder_count, const BatchParams& batch, float* a, float* b,
                          cudaStream_t stream) {
  const int tiles = Blocks(batch.rows, kTileRows);
  float* in = a;
  float* out = b;
  int in_width = model.widths.a;
  int out_width = model.widths.b;
  const auto swap = [&] {
    std::swap(in, out);
    std::swap(in_width, out_width);
  };
  const auto run = [&](const StageParams& stage) {
    StageKernel<<<dim3(tiles, Blocks(stage.out, kPanel)), TileThread::kThreads, 0, stream>>>(stage, in, in_width, out,
                                                                                             out_width);
    swap();
    return cudaGetLastError();
  };
  if (model.has_encoder) {
    LoadKernel<<<tiles, kRowThreads, 0, stream>>>(model, batch, in, in_width);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
    for (int i = 0; i < encoder_count; ++i) {
      if (const cudaError_t error = run(encoder[i]); error != cudaSuccess) return error;
    }
  }
  LatentKernel<<<tiles, kRowThreads, 0, stream>>>(model, batch, in, in_width, out, out_width);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  swap();
  for (int i = 0; i < decoder_count; ++i) {
    if (const cudaError_t error = run(decoder[i]); error != cudaSuccess) return error;
  }
  OutputKernel<<<tiles, kRowThreads, 0, stream>>>(model, batch, in, in_width);
  return cudaGetLastError();
}

}  // namespace cvae::cuda
