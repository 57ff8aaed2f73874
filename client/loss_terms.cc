#include "client/loss_terms.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace cvae {
namespace {

// One NaN for all: its bits differ between machines and operations.
double Canonical(double value) { return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value; }

// Over the rows, ascending, in double (ARCHITECTURE.md, "Same bits").
double Reduce(absl::Span<const float> rows, bool sum) {
  double total = 0;
  for (const float row : rows) total += static_cast<double>(row);
  return Canonical(sum ? total : total / static_cast<double>(rows.size()));
}

}  // namespace

absl::StatusOr<LossRule> ParseLossRule(const std::string& description) {
  LossRule rule;
  if (description.empty()) return rule;
  try {
    const auto loss = nlohmann::json::parse(description).value("loss", nlohmann::json::object());
    rule.recon_weight = loss.value("recon_weight", rule.recon_weight);
    rule.kl_weight = loss.value("kl_weight", rule.kl_weight);
    rule.sum = loss.value("reduce", std::string("mean")) == "sum";
  } catch (const nlohmann::json::exception& error) {
    return absl::InternalError(absl::StrCat("the server's description of the model: ", error.what()));
  }
  return rule;
}

LossTerms CombineLoss(absl::Span<const float> row_recon, absl::Span<const float> row_kl, const LossRule& rule) {
  LossTerms terms;
  terms.recon_loss = Reduce(row_recon, rule.sum);
  terms.kl_loss = Reduce(row_kl, rule.sum);
  terms.loss = Canonical(rule.recon_weight * terms.recon_loss + rule.kl_weight * terms.kl_loss);
  return terms;
}

}  // namespace cvae
