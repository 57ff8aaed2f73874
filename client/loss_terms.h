// The loss terms of a set of rows from the terms of each row, as the server makes them: the same doubles.

#ifndef CVAE_CLIENT_LOSS_TERMS_H_
#define CVAE_CLIENT_LOSS_TERMS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cvae {

// How a model weighs its terms: `loss` of its description.
struct LossRule {
  double recon_weight = 1;
  double kl_weight = 1;
  bool sum = false;  // reduce: over the rows sums, not means
};

struct LossTerms {
  double loss = 0;
  double recon_loss = 0;
  double kl_loss = 0;
};

// Reads the rule from GetModelResponse.description. Empty: the rule of a file without a description. INTERNAL: it is
// not the JSON that a server answers.
absl::StatusOr<LossRule> ParseLossRule(const std::string& description);

// The terms of a set from LossResponse.row_recon and row_kl of all its rows, in order: bit for bit what one call for
// all of them answers.
LossTerms CombineLoss(absl::Span<const float> row_recon, absl::Span<const float> row_kl, const LossRule& rule);

}  // namespace cvae

#endif  // CVAE_CLIENT_LOSS_TERMS_H_
