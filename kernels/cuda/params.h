// What the kernels are told: plain data, filled on the host, passed by value or read from device memory.

#ifndef CVAE_KERNELS_CUDA_PARAMS_H_
#define CVAE_KERNELS_CUDA_PARAMS_H_

#include <cstdint>

#include "kernels/numerics/activation.h"
#include "kernels/numerics/latent.h"
#include "kernels/row_span.h"

namespace cvae::cuda {

inline constexpr int kPanel = 128;    // columns of a weight that a block of the tile kernel takes at a time
inline constexpr int kTileRows = 64;  // rows of a block where there are many
inline constexpr int kFewRows = 4;    // rows of a block where there are few

// Floats from a column of a tile's activations to the next: rows stand side by side, so that a thread reads its rows of
// one column as vectors. Four more than the rows, so that neighbouring columns begin in different banks.
inline constexpr int kTileStride = kTileRows + 4;
inline constexpr int kFewStride = kFewRows;

// Weights are read ahead of their use, this many inputs: the memory behind them is padded by as much.
inline constexpr int kTileAhead = 4;
inline constexpr int kFewAhead = 16;

// One step of a layer list: a linear, if any, and an activation.
struct StageParams {
  const float* weight = nullptr;  // [in, padded], k-major; null: no linear
  const float* bias = nullptr;    // [padded]
  int in = 0;
  int out = 0;
  int padded = 0;  // out rounded up to whole panels, zeros
  Activation activation = Activation::kIdentity;
};

inline constexpr int kMaxFusedStages = 16;  // of each network; longer ones run a launch a stage

struct NetworkParams {
  StageParams stages[kMaxFusedStages];
  int count = 0;
  int dense = 0;  // columns of x or z
  int in = 0;     // with the condition's
  int out = 0;
  Activation output = Activation::kIdentity;  // after the last stage; bce reads what is before it
};

// One part of the condition: where it stands in y.
struct PartParams {
  int first = 0;
  int width = 0;
};

// Columns of the two activation buffers. Stages read one and write the other in turn, the encoder's first reads A; z
// goes where the head does not lie.
struct BufferWidths {
  int a = 0;
  int b = 0;
};

struct ModelParams {
  NetworkParams encoder;  // count 0 with `has_encoder` false: a decoder alone
  NetworkParams decoder;
  const PartParams* parts = nullptr;  // [part_count]
  int part_count = 0;
  int condition = 0;  // L
  int latent = 0;     // Z
  LatentSpec latent_spec;
  bool has_encoder = false;
  bool bce = false;
  BufferWidths widths;
  BufferWidths tile_widths;  // of FusedTileKernel, which writes the last stage's output nowhere
};

// The rows of one launch. Pointers of the spans are the device's.
struct BatchParams {
  const RowSpan* spans = nullptr;
  const uint32_t* first_of = nullptr;  // [spans] batch row of each span's first
  const uint32_t* span_of = nullptr;   // [rows] span of each batch row
  int rows = 0;
};

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_PARAMS_H_
