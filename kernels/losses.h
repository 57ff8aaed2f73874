// Loss terms over samples and rows, on the host, in double: the same for every engine, batch and split.

#ifndef CVAE_KERNELS_LOSSES_H_
#define CVAE_KERNELS_LOSSES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kernels/model/model.h"

namespace cvae {

struct LossTerms {
  double loss = 0;
  double recon_loss = 0;
  double kl_loss = 0;
};

// recon_loss and kl_loss: the sums over the rows, ascending, divided by their number unless the model reduces by sum.
// loss = recon_weight * recon_loss + kl_weight * kl_loss. REQUIRES as many of the one as of the other, at least 1.
LossTerms FoldRows(const LossSpec& spec, absl::Span<const float> row_recon, absl::Span<const float> row_kl);

// terms [rows * samples, cols], row i's sample s at i * samples + s -> means [rows, cols]: the float nearest to the sum
// over the samples, ascending, in double, divided by their number; of one sample the term itself. A NaN is 7fc00000.
void MeanOverSamples(absl::Span<const float> terms, uint32_t samples, int cols, absl::Span<float> means);

}  // namespace cvae

#endif  // CVAE_KERNELS_LOSSES_H_
