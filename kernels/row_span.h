// A run of rows of one request, as both engines take it. Plain data: CUDA device code reads it too.

#ifndef CVAE_KERNELS_ROW_SPAN_H_
#define CVAE_KERNELS_ROW_SPAN_H_

#include <cstdint>

namespace cvae {

// Which part of the model a span's rows go through.
enum class Pass {
  kEncode,   // x, condition -> mu, logvar
  kForward,  // x, condition, noise -> everything
  kDecode,   // z, condition -> x_hat
};

enum class Noise {
  kMean,  // z = mu; in Pass::kDecode z = 0
  kSeed,  // eps drawn from (seed, row, sample); in Pass::kDecode z = temperature * eps
  kEps,   // the caller's eps; in Pass::kDecode it is z itself
};

// The condition of a span's input rows. A part is either a class id a row or columns of `y`.
struct Condition {
  const float* y = nullptr;      // [rows, L], read where an id is -1 (or ids is null); null if every part has ids
  const int32_t* ids = nullptr;  // [rows, parts]; in range, or -1: the part's columns of `y`; null: all of them in `y`
};

// A run of computed rows of one request. Row i's sample s is computed row i * samples + s of the request; a span may
// begin and end within a row's samples. "Input rows" are the rows that its computed rows belong to: (first_sample +
// count + samples - 1) / samples of them.
struct RowSpan {
  Pass pass = Pass::kForward;
  uint32_t count = 0;         // computed rows
  uint32_t samples = 1;       // S; Pass::kEncode: 1
  uint32_t first_sample = 0;  // sample of the first computed row, < samples
  uint64_t first_row = 0;     // index of the first input row, the noise counter's: first_row + i may not overflow

  Noise noise = Noise::kMean;
  uint64_t seed = 0;
  float temperature = 1;  // Pass::kDecode with Noise::kSeed

  // Inputs, in the session's staging memory, each aligned to kStagingAlign.
  const float* x = nullptr;       // [input rows, D]; not in Pass::kDecode
  const float* eps = nullptr;     // [count, Z]; with Noise::kEps
  const float* target = nullptr;  // [input rows, O]; null: x, which then is O wide
  Condition encode_condition;
  Condition decode_condition;

  // Outputs, in the caller's memory, aligned as floats; null: not wanted. NaN is stored as 7fc00000. Those of an input
  // row are written by the span that holds its sample 0, so that spans of one request may run at the same time.
  float* mu = nullptr;              // [input rows, Z]
  float* logvar = nullptr;          // [input rows, Z]
  float* z = nullptr;               // [count, Z]
  float* x_hat = nullptr;           // [count, O]
  float* recon = nullptr;           // [count], raw sums over the columns
  float* kl = nullptr;              // [input rows], raw sums over the latents
  float* recon_elements = nullptr;  // [count, O]
  float* kl_elements = nullptr;     // [input rows, Z]

  uint32_t input_rows() const {
    return static_cast<uint32_t>((uint64_t{first_sample} + count + samples - 1) / samples);
  }
};

}  // namespace cvae

#endif  // CVAE_KERNELS_ROW_SPAN_H_
