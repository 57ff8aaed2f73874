#include "kernels/cpu/forward.h"

#include <algorithm>
#include <cstring>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/forward.cc"
#include "hwy/foreach_target.h"
// clang-format on

#include "hwy/highway.h"
#include "kernels/cpu/linear-inl.h"
#include "kernels/numerics/numerics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cvae {
namespace HWY_NAMESPACE {
namespace {

using cpu::kBlockRows;
using cpu::PackedNetwork;
using cpu::Plan;
using cpu::RowInput;
using cpu::RowRef;
using cpu::Scratch;

// Calls body(index of the vector, first column, columns that exist) for the vectors of a row of `width` columns.
template <class Body>
HWY_INLINE void ForVectors(int width, const Body& body) {
  int index = 0;
  int column = 0;
  for (; column + kLanes <= width; column += kLanes) body(index++, column, kLanes);
  if (column < width) body(index, column, width - column);
}

HWY_INLINE VecF LoadSome(const float* p, int n) { return n == kLanes ? VecF::Load(p) : VecF::Load(p, n); }

// The value with +0 in the vector's lanes behind the first n.
HWY_INLINE VecF KeepSome(VecF value, int n) {
  if (n == kLanes) return value;
  HWY_ALIGN float lanes[kLanes];
  value.Store(lanes);
  return VecF::Load(lanes, n);
}

// Stores what callers see: every NaN as the same NaN.
HWY_INLINE void StoreOutput(VecF value, float* p, int n) {
  const VecF canonical = CanonicalNaN(value);
  if (n == kLanes) {
    canonical.Store(p);
  } else {
    canonical.Store(p, n);
  }
}

void ActivateRows(Activation activation, int rows, int width, float* data, int stride) {
  if (activation == Activation::kIdentity) return;
  for (int row = 0; row < rows; ++row) {
    float* p = data + static_cast<size_t>(row) * stride;
    for (int column = 0; column < width; column += kLanes)
      Activate(activation, VecF::Load(p + column)).Store(p + column);
  }
}

// The concatenation of a row in memory, for layer lists that do not begin with a linear.
void CopyTogether(const Plan& plan, const PackedNetwork& network, const RowInput& row, float* out) {
  std::memcpy(out, row.dense, network.dense * sizeof(float));
  for (size_t part = 0; part < plan.condition.size(); ++part) {
    const cpu::ConditionColumns& columns = plan.condition[part];
    float* to = out + network.dense + columns.first;
    if (row.ids != nullptr && row.ids[part] >= 0) {
      std::fill_n(to, columns.width, 0.0f);
      to[row.ids[part]] = 1.0f;
    } else {
      std::memcpy(to, row.y + columns.first, columns.width * sizeof(float));
    }
  }
}

// Runs a network over `count` rows, up to the activation of its output; returns its output, [count, scratch.stride].
const float* RunNetwork(const Plan& plan, const PackedNetwork& network, int count, const RowInput* rows,
                        Scratch& scratch) {
  const bool begins_with_linear = !network.stages.empty() && network.stages.front().linear != nullptr;
  const size_t stride = scratch.stride;
  int width = network.in;
  if (!begins_with_linear) {
    for (int row = 0; row < count; ++row) CopyTogether(plan, network, rows[row], scratch.front.get() + row * stride);
  }
  bool first = begins_with_linear;
  for (const cpu::Stage& stage : network.stages) {
    if (stage.linear != nullptr && first) {
      RunLinear(*stage.linear, network.dense, count, rows, &plan.condition, scratch.back.get(), stride);
    } else if (stage.linear != nullptr) {
      RowInput inputs[kBlockRows];
      for (int row = 0; row < count; ++row) inputs[row].dense = scratch.front.get() + row * stride;
      RunLinear(*stage.linear, stage.linear->in, count, inputs, nullptr, scratch.back.get(), stride);
    }
    if (stage.linear != nullptr) {
      width = stage.linear->out;
      std::swap(scratch.front, scratch.back);
    }
    ActivateRows(stage.activation, count, width, scratch.front.get(), scratch.stride);
    first = false;
  }
  return scratch.front.get();
}

const float* RowOf(const float* base, size_t row, size_t cols) { return base == nullptr ? nullptr : base + row * cols; }

RowInput ConditionOf(const Condition& condition, size_t input_row, const Plan& plan) {
  RowInput row;
  row.y = RowOf(condition.y, input_row, plan.condition_width);
  row.ids = condition.ids == nullptr ? nullptr : condition.ids + input_row * plan.condition.size();
  return row;
}

uint32_t InputRow(const RowRef& row) { return (row.span->first_sample + row.index) / row.span->samples; }
uint32_t SampleOf(const RowRef& row) { return (row.span->first_sample + row.index) % row.span->samples; }

// mu, logvar and KL of an encoded row, as far as wanted.
void WriteEncoded(const Plan& plan, const RowSpan& span, size_t input_row, const float* mu, const float* logvar) {
  const int latents = plan.latent_width;
  float* const mu_out = span.mu == nullptr ? nullptr : span.mu + input_row * latents;
  float* const logvar_out = span.logvar == nullptr ? nullptr : span.logvar + input_row * latents;
  float* const kl_out = span.kl_elements == nullptr ? nullptr : span.kl_elements + input_row * latents;
  const bool wants_kl = span.kl != nullptr || kl_out != nullptr;
  RowSum<VecF> sum;
  ForVectors(latents, [&](int index, int column, int n) HWY_ATTR {
    const VecF m = LoadSome(mu + column, n);
    const VecF lv = LoadSome(logvar + column, n);
    if (mu_out != nullptr) StoreOutput(m, mu_out + column, n);
    if (logvar_out != nullptr) StoreOutput(lv, logvar_out + column, n);
    if (!wants_kl) return;
    const VecF element = KeepSome(KlElement(plan.latent, m, lv), n);
    if (kl_out != nullptr) StoreOutput(element, kl_out + column, n);
    sum.Add(index, element);
  });
  if (span.kl != nullptr) span.kl[input_row] = CanonicalNaN(sum.Total());
}

// z of a computed row, into scratch and, if wanted, out.
void MakeZ(const Plan& plan, const RowRef& row, const float* mu, const float* logvar, float* z) {
  const RowSpan& span = *row.span;
  const int latents = plan.latent_width;
  const bool prior = span.pass == Pass::kDecode;
  const float* eps = RowOf(span.eps, row.index, latents);
  if (span.noise == Noise::kSeed) {
    FillNormals<VecU>(span.seed, span.first_row + InputRow(row), SampleOf(row), latents, z);
    eps = z;
  }
  float* const z_out = span.z == nullptr ? nullptr : span.z + static_cast<size_t>(row.index) * latents;
  ForVectors(latents, [&](int, int column, int n) HWY_ATTR {
    VecF value;
    if (span.noise == Noise::kMean) {
      value = prior ? VecF(0.0f) : LoadSome(mu + column, n);
    } else if (!prior) {
      value = SampleZ(plan.latent, LoadSome(mu + column, n), LoadSome(logvar + column, n), LoadSome(eps + column, n));
    } else {
      value = LoadSome(eps + column, n);
      if (span.noise == Noise::kSeed) value = DrawZ(plan.latent, span.temperature, value);
    }
    if (z_out != nullptr) StoreOutput(value, z_out + column, n);
    value.Store(z + column);  // scratch rows are whole panels
  });
}

// x_hat and the reconstruction terms of a computed row, from the decoder's output before its activation.
void WriteDecoded(const Plan& plan, const RowRef& row, const float* decoded) {
  const RowSpan& span = *row.span;
  const size_t width = plan.output_width;
  float* const x_hat_out = span.x_hat == nullptr ? nullptr : span.x_hat + row.index * width;
  float* const elements_out = span.recon_elements == nullptr ? nullptr : span.recon_elements + row.index * width;
  const bool wants_recon = span.recon != nullptr || elements_out != nullptr;
  const float* target =
      span.target != nullptr ? RowOf(span.target, InputRow(row), width) : RowOf(span.x, InputRow(row), width);
  RowSum<VecF> sum;
  ForVectors(plan.output_width, [&](int index, int column, int n) HWY_ATTR {
    const VecF before = LoadSome(decoded + column, n);
    VecF x_hat = before;
    if (x_hat_out != nullptr || !plan.bce) x_hat = Activate(plan.decoder.output, before);
    if (x_hat_out != nullptr) StoreOutput(x_hat, x_hat_out + column, n);
    if (!wants_recon) return;
    const VecF x = LoadSome(target + column, n);
    if (plan.bce) {
      const VecF element = KeepSome(BceElement(before, x), n);  // a missing column's is log 2
      if (elements_out != nullptr) StoreOutput(element, elements_out + column, n);
      sum.Add(index, element);
    } else {
      const VecF d = KeepSome(x_hat - x, n);  // sigmoid of a missing column is 1/2
      if (elements_out != nullptr) StoreOutput(SquaredError(d), elements_out + column, n);
      sum.AddSquare(index, d);
    }
  });
  if (span.recon != nullptr) span.recon[row.index] = CanonicalNaN(sum.Total());
}

bool WantsLatent(const RowSpan& span) {
  return span.pass != Pass::kEncode &&
         (span.z != nullptr || span.x_hat != nullptr || span.recon != nullptr || span.recon_elements != nullptr);
}

bool WantsDecoder(const RowSpan& span) {
  return span.pass != Pass::kEncode &&
         (span.x_hat != nullptr || span.recon != nullptr || span.recon_elements != nullptr);
}

// Encodes each input row that the block's rows belong to, once. head_of[i]: the row of scratch.head that row i reads.
void Encode(const Plan& plan, absl::Span<const RowRef> rows, Scratch& scratch, int* head_of) {
  RowInput inputs[kBlockRows];
  RowRef first_of[kBlockRows];  // the block's first row of each input row
  int count = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowRef& row = rows[i];
    if (row.span->pass == Pass::kDecode) continue;
    const bool same =
        count > 0 && first_of[count - 1].span == row.span && InputRow(first_of[count - 1]) == InputRow(row);
    if (!same) {
      inputs[count] = ConditionOf(row.span->encode_condition, InputRow(row), plan);
      inputs[count].dense = RowOf(row.span->x, InputRow(row), plan.input_width);
      first_of[count++] = row;
    }
    head_of[i] = count - 1;
  }
  if (count == 0) return;
  const float* out = RunNetwork(plan, plan.encoder, count, inputs, scratch);
  for (int i = 0; i < count; ++i) {
    // Copied apart: the decoder needs the scratch. mu and logvar each from an aligned place.
    float* head = scratch.head.get() + static_cast<size_t>(i) * scratch.head_stride;
    const float* from = out + static_cast<size_t>(i) * scratch.stride;
    std::memcpy(head, from, plan.latent_width * sizeof(float));
    std::memcpy(head + scratch.latent_stride, from + plan.latent_width, plan.latent_width * sizeof(float));
    float* const logvar = head + scratch.latent_stride;
    ForVectors(plan.latent_width, [&](int, int column, int n) HWY_ATTR {
      ClampLogvar(plan.latent, LoadSome(logvar + column, n)).Store(logvar + column);  // scratch rows are whole panels
    });
    if (SampleOf(first_of[i]) == 0) {
      WriteEncoded(plan, *first_of[i].span, InputRow(first_of[i]), head, logvar);
    }
  }
}

void Decode(const Plan& plan, absl::Span<const RowRef> rows, Scratch& scratch, const int* head_of) {
  RowInput inputs[kBlockRows];
  RowRef decoded[kBlockRows];
  int count = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowRef& row = rows[i];
    if (!WantsLatent(*row.span)) continue;
    float* z = scratch.z.get() + static_cast<size_t>(count) * scratch.latent_stride;
    const float* head = row.span->pass == Pass::kDecode
                            ? nullptr
                            : scratch.head.get() + static_cast<size_t>(head_of[i]) * scratch.head_stride;
    MakeZ(plan, row, head, head == nullptr ? nullptr : head + scratch.latent_stride, z);
    if (!WantsDecoder(*row.span)) continue;
    inputs[count] = ConditionOf(row.span->decode_condition, InputRow(row), plan);
    inputs[count].dense = z;
    decoded[count++] = row;
  }
  if (count == 0) return;
  const float* out = RunNetwork(plan, plan.decoder, count, inputs, scratch);
  for (int i = 0; i < count; ++i) WriteDecoded(plan, decoded[i], out + static_cast<size_t>(i) * scratch.stride);
}

void RunBlock(const Plan& plan, absl::Span<const RowRef> rows, Scratch& scratch) {
  int head_of[kBlockRows];
  Encode(plan, rows, scratch, head_of);
  Decode(plan, rows, scratch, head_of);
}

}  // namespace

cpu::Kernels GetKernels() { return {hwy::TargetName(HWY_TARGET), HWY_TARGET, &RunBlock}; }

}  // namespace HWY_NAMESPACE
}  // namespace cvae
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cvae {

HWY_EXPORT(GetKernels);

namespace cpu {
namespace {

hwy::AlignedFreeUniquePtr<float[]> Rows(int stride) {
  // Zeros: what lies behind a row's width is computed with, never answered.
  const size_t count = std::max<size_t>(1, static_cast<size_t>(kBlockRows) * stride);
  auto rows = hwy::AllocateAligned<float>(count);
  std::fill_n(rows.get(), count, 0.0f);
  return rows;
}

}  // namespace

Scratch::Scratch(const Plan& plan)
    : stride(std::max(plan.encoder.max_width, plan.decoder.max_width)),
      head_stride(2 * PaddedWidth(plan.latent_width)),
      latent_stride(PaddedWidth(plan.latent_width)),
      front(Rows(stride)),
      back(Rows(stride)),
      head(Rows(head_stride)),
      z(Rows(latent_stride)) {}

Kernels ChooseKernels(int64_t allowed) {
  const int64_t supported = hwy::SupportedTargets();
  hwy::ChosenTarget chosen;
  chosen.Update(allowed == 0 ? supported : supported & allowed);
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
  return HWY_STATIC_DISPATCH(GetKernels)();
#else
  return HWY_DISPATCH_TABLE(GetKernels)[chosen.GetIndex()]();
#endif
}

std::vector<Kernels> AllKernels() {
  std::vector<Kernels> all;
  for (int64_t bit = 1; bit != 0 && bit <= HWY_TARGETS; bit <<= 1) {
    if ((HWY_TARGETS & bit) == 0) continue;
    const Kernels kernels = ChooseKernels(bit);
    if (kernels.target == bit) all.push_back(kernels);
  }
  return all;
}

}  // namespace cpu
}  // namespace cvae
#endif  // HWY_ONCE
