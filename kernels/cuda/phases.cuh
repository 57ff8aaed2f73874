// The steps of the forward pass for a tile of rows, beside the linears: inputs into a tile, noise, z, outputs.
// Activations of a tile are [columns, kStride], its rows side by side; they lie in shared memory or in a launch's
// scratch.

#ifndef CVAE_KERNELS_CUDA_PHASES_CUH_
#define CVAE_KERNELS_CUDA_PHASES_CUH_

#include "kernels/cuda/params.h"
#include "kernels/numerics/numerics.h"
#include "kernels/numerics/warp_sum.cuh"

namespace cvae::cuda {

inline constexpr int kWarp = 32;

// A computed row of the batch, or none (span null) behind the last.
struct RowRef {
  const RowSpan* span;
  uint32_t index;  // in its span
  uint32_t input;  // its input row
  uint32_t sample;
};

__device__ __forceinline__ RowRef FindRow(const BatchParams& batch, int row) {
  if (row >= batch.rows) return {nullptr, 0, 0, 0};
  const uint32_t span_index = batch.span_of[row];
  const RowSpan* span = batch.spans + span_index;
  const uint32_t index = row - batch.first_of[span_index];
  const uint32_t computed = span->first_sample + index;
  if (span->samples == 1) return {span, index, computed, 0};
  return {span, index, computed / span->samples, computed % span->samples};
}

__device__ __forceinline__ bool IsEncoded(const RowRef& row) {
  return row.span != nullptr && row.span->pass != Pass::kDecode;
}

__device__ __forceinline__ bool WantsDecoder(const RowRef& row) {
  return row.span != nullptr && row.span->pass != Pass::kEncode &&
         (row.span->x_hat != nullptr || row.span->recon != nullptr || row.span->recon_elements != nullptr);
}

__device__ __forceinline__ bool WantsLatent(const RowRef& row) {
  return WantsDecoder(row) || (row.span != nullptr && row.span->pass != Pass::kEncode && row.span->z != nullptr);
}

__device__ __forceinline__ const float* RowOf(const float* base, uint32_t row, int width) {
  return base == nullptr ? nullptr : base + static_cast<size_t>(row) * width;
}

__device__ __forceinline__ float* RowOf(float* base, uint32_t row, int width) {
  return base == nullptr ? nullptr : base + static_cast<size_t>(row) * width;
}

// The value of column `column` of a part for a row: its column of y, or the one-hot of its class id.
__device__ __forceinline__ float ConditionValue(const Condition& condition, const ModelParams& model, int part,
                                                PartParams at, int column, uint32_t input) {
  if (condition.ids != nullptr) {
    const int32_t id = condition.ids[static_cast<size_t>(input) * model.part_count + part];
    if (id >= 0) return column == id ? 1.0f : 0.0f;
  }
  return condition.y[static_cast<size_t>(input) * model.condition + at.first + column];
}

// Columns [0, D): x of the encoded rows; zeros of the others. Four rows of a column a thread, a warp 32 columns.
template <int kRows, int kStride>
__device__ void LoadX(const RowRef* rows, int width, float* out) {
  const int lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  constexpr int kQuads = kRows / 4;
  const int items = kQuads * ((width + kWarp - 1) / kWarp);
#pragma unroll 2
  for (int item = threadIdx.x / kWarp; item < items; item += warps) {
    const int row = item % kQuads * 4, column = item / kQuads * kWarp + lane;
    if (column >= width) continue;
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const RowRef& ref = rows[row + i];
      v[i] = IsEncoded(ref) ? RowOf(ref.span->x, ref.input, width)[column] : 0.0f;
    }
    *reinterpret_cast<float4*>(out + column * kStride + row) = make_float4(v[0], v[1], v[2], v[3]);
  }
}

// The condition's columns behind the `dense` ones, of the encoder or of the decoder.
template <int kRows, int kStride, bool kDecoder>
__device__ void LoadCondition(const RowRef* rows, const ModelParams& model, int dense, float* out) {
  for (int part = 0; part < model.part_count; ++part) {
    const PartParams at = model.parts[part];
    for (int item = threadIdx.x; item < at.width * kRows; item += blockDim.x) {
      const int row = item % kRows, column = item / kRows;
      const RowRef& ref = rows[row];
      const bool wanted = kDecoder ? WantsDecoder(ref) : IsEncoded(ref);
      float value = 0;
      if (wanted) {
        const Condition& condition = kDecoder ? ref.span->decode_condition : ref.span->encode_condition;
        value = ConditionValue(condition, model, part, at, column, ref.input);
      }
      out[(dense + at.first + column) * kStride + row] = value;
    }
  }
}

// Columns [0, Z): eps of the rows that draw their noise. Four latents a thread: what one Philox block gives.
template <int kRows, int kStride>
__device__ void DrawNoise(const RowRef* rows, int latents, float* out) {
  const int items = kRows * ((latents + 3) / 4);
  for (int item = threadIdx.x; item < items; item += blockDim.x) {
    const RowRef& ref = rows[item % kRows];
    const uint32_t block = item / kRows;
    if (!WantsLatent(ref) || ref.span->noise != Noise::kSeed) continue;
    const auto eps = scalar::Normals(
        scalar::NoiseWords<uint32_t>(ref.span->seed, ref.span->first_row + ref.input, ref.sample, block));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int latent = static_cast<int>(block) * 4 + i;
      if (latent < latents) out[latent * kStride + item % kRows] = eps.v[i];
    }
  }
}

__device__ __forceinline__ void StoreOutput(float* row, int column, float value) {
  if (row != nullptr) row[column] = scalar::CanonicalNaN(value);
}

// The formulas of a variance eps are called, not inlined: few models have one.
__device__ __noinline__ float KlElementByFormula(const LatentSpec& spec, float mu, float logvar) {
  return scalar::KlElement(spec, mu, logvar);
}

__device__ __noinline__ float SampleZByFormula(const LatentSpec& spec, float mu, float logvar, float eps) {
  return scalar::SampleZ(spec, mu, logvar, eps);
}

__device__ __forceinline__ float KlElement(const LatentSpec& spec, float mu, float logvar) {
  if (spec.variance_eps == 0) return scalar::KlElement(mu, logvar);
  return KlElementByFormula(spec, mu, logvar);
}

__device__ __forceinline__ float SampleZ(const LatentSpec& spec, float mu, float logvar, float eps) {
  if (spec.variance_eps == 0) return scalar::SampleZ(mu, logvar, eps);
  return SampleZByFormula(spec, mu, logvar, eps);
}

// A warp a row: mu, logvar and KL of an encoded row, as far as wanted, and z, which goes to columns [0, Z) of `z`,
// where the noise is that was drawn. head: mu's columns, then logvar's.
template <int kRows, int kStride>
__device__ void MakeLatents(const RowRef* rows, int latents, const LatentSpec& spec, const float* head, float* z) {
  const int lane = threadIdx.x % kWarp;
  for (int row = threadIdx.x / kWarp; row < kRows; row += blockDim.x / kWarp) {
    const RowRef ref = rows[row];
    const bool encoded = IsEncoded(ref), wants_latent = WantsLatent(ref);
    const bool writes = encoded && ref.sample == 0;
    const RowSpan* span = ref.span;
    const bool wants_kl = writes && (span->kl != nullptr || span->kl_elements != nullptr);
    float partial = 0;
    for (int k = lane; k < latents; k += kWarp) {
      const float mu = encoded ? head[k * kStride + row] : 0.0f;
      const float logvar = encoded ? scalar::ClampLogvar(spec, head[(latents + k) * kStride + row]) : 0.0f;
      if (writes) {
        StoreOutput(RowOf(span->mu, ref.input, latents), k, mu);
        StoreOutput(RowOf(span->logvar, ref.input, latents), k, logvar);
      }
      if (wants_kl) {
        const float element = KlElement(spec, mu, logvar);
        StoreOutput(RowOf(span->kl_elements, ref.input, latents), k, element);
        partial = partial + element;
      }
      float value = 0;
      if (wants_latent && span->noise == Noise::kMean) value = encoded ? mu : 0.0f;
      if (wants_latent && span->noise != Noise::kMean) {
        const bool drawn = span->noise == Noise::kSeed;
        const float eps = drawn ? z[k * kStride + row] : RowOf(span->eps, ref.index, latents)[k];
        value = encoded ? SampleZ(spec, mu, logvar, eps) : (drawn ? scalar::DrawZ(spec, span->temperature, eps) : eps);
      }
      if (wants_latent) StoreOutput(RowOf(span->z, ref.index, latents), k, value);
      z[k * kStride + row] = value;
    }
    if (wants_kl) {
      const float total = scalar::WarpSumTree(partial);
      if (lane == 0) StoreOutput(span->kl, ref.input, total);
    }
  }
}

__device__ __noinline__ float ActivateByFormula(Activation activation, float x) {
  return scalar::Activate(activation, x);
}

// The formulas are called, not inlined at each of a thread's many outputs: together they are long.
__device__ __forceinline__ float Activate(Activation activation, float x) {
  if (activation.kind == Activation::kIdentity) return x;
  if (activation.kind == Activation::kRelu) return scalar::Relu(x);
  return ActivateByFormula(activation, x);
}

// Where a row's outputs go, and what it is compared with.
struct DecodedRow {
  float* x_hat;
  float* elements;
  float* recon;         // of this row alone
  const float* target;  // null: no reconstruction term is wanted
};

__device__ __forceinline__ DecodedRow DecodedRowOf(const RowRef& ref, int width) {
  if (!WantsDecoder(ref)) return {nullptr, nullptr, nullptr, nullptr};
  const RowSpan& span = *ref.span;
  const bool wants_recon = span.recon != nullptr || span.recon_elements != nullptr;
  return {RowOf(span.x_hat, ref.index, width), RowOf(span.recon_elements, ref.index, width),
          span.recon == nullptr ? nullptr : span.recon + ref.index,
          wants_recon ? RowOf(span.target != nullptr ? span.target : span.x, ref.input, width) : nullptr};
}

// x_hat of one column from the output before its activation; adds its reconstruction term to the partial sum.
__device__ __forceinline__ void WriteColumn(const DecodedRow& row, Activation activation, bool bce, int column,
                                            float before, float& partial) {
  float x_hat = before;
  if (row.x_hat != nullptr || !bce) x_hat = Activate(activation, before);
  StoreOutput(row.x_hat, column, x_hat);
  if (row.target == nullptr) return;
  if (bce) {
    const float element = scalar::BceElement(before, row.target[column]);
    StoreOutput(row.elements, column, element);
    partial = partial + element;
  } else {
    const float d = x_hat - row.target[column];
    StoreOutput(row.elements, column, scalar::SquaredError(d));
    partial = scalar::Fma(d, d, partial);
  }
}

// A warp a row: outputs of rows [first_row, kRows) from the decoder's output in a tile.
template <int kRows, int kStride>
__device__ void WriteDecoded(const RowRef* rows, const NetworkParams& decoder, bool bce, const float* decoded) {
  const int lane = threadIdx.x % kWarp;
  for (int row = threadIdx.x / kWarp; row < kRows; row += blockDim.x / kWarp) {
    const DecodedRow to = DecodedRowOf(rows[row], decoder.out);
    if (to.x_hat == nullptr && to.target == nullptr) continue;
    float partial = 0;
    for (int column = lane; column < decoder.out; column += kWarp) {
      WriteColumn(to, decoder.output, bce, column, decoded[column * kStride + row], partial);
    }
    const float total = scalar::WarpSumTree(partial);
    if (lane == 0 && to.recon != nullptr) *to.recon = scalar::CanonicalNaN(total);
  }
}

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_PHASES_CUH_
