#include "kernels/losses.h"

#include <algorithm>

#include "kernels/numerics/numerics.h"

namespace cvae {
namespace {

double Fold(absl::Span<const float> rows, Reduce reduce) {
  double sum = 0;
  for (const float row : rows) sum += row;
  return scalar::CanonicalNaN(reduce == Reduce::kSum ? sum : sum / static_cast<double>(rows.size()));
}

}  // namespace

LossTerms FoldRows(const LossSpec& spec, absl::Span<const float> row_recon, absl::Span<const float> row_kl) {
  LossTerms terms;
  terms.recon_loss = Fold(row_recon, spec.reduce);
  terms.kl_loss = Fold(row_kl, spec.reduce);
  terms.loss = scalar::CanonicalNaN(spec.recon_weight * terms.recon_loss + spec.kl_weight * terms.kl_loss);
  return terms;
}

void MeanOverSamples(absl::Span<const float> terms, uint32_t samples, int cols, absl::Span<float> means) {
  if (samples == 1) {  // by itself: a sum from +0 would lose the sign of a -0
    std::transform(terms.begin(), terms.end(), means.begin(), [](float term) { return scalar::CanonicalNaN(term); });
    return;
  }
  const size_t rows = means.size() / cols;
  for (size_t row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      double sum = 0;
      for (uint32_t s = 0; s < samples; ++s) sum += terms[(row * samples + s) * cols + col];
      means[row * cols + col] = scalar::CanonicalNaN(static_cast<float>(sum / samples));
    }
  }
}

}  // namespace cvae
