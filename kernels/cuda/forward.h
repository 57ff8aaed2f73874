// Launches of the forward pass. Each returns what the launch itself returned; what the kernel meets is known when the
// stream is synchronized. All are the stream's; the device must be the current one.

#ifndef CVAE_KERNELS_CUDA_FORWARD_H_
#define CVAE_KERNELS_CUDA_FORWARD_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "kernels/cuda/params.h"

namespace cvae::cuda {

// Dynamic shared memory of a block of each fused form.
size_t TileSharedBytes(const ModelParams& model);
size_t FewSharedBytes(const ModelParams& model);

// Lets blocks of the fused forms have this much shared memory on the current device (0: a form that is not used).
cudaError_t PrepareFused(size_t tile_bytes, size_t few_bytes);

// The whole forward in one launch: 64 rows a block, or 4.
cudaError_t LaunchFusedTile(const ModelParams& model, const BatchParams& batch, cudaStream_t stream);
cudaError_t LaunchFusedFew(const ModelParams& model, const BatchParams& batch, cudaStream_t stream);

// A launch a stage. a, b: device memory for [tiles of 64 rows, widths.a or widths.b, kTileStride] floats.
cudaError_t LaunchLayered(const ModelParams& model, const StageParams* encoder, int encoder_count,
                          const StageParams* decoder, int decoder_count, const BatchParams& batch, float* a, float* b,
                          cudaStream_t stream);

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_FORWARD_H_
