#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "kernels/model/parts.h"

namespace cvae {
namespace {

constexpr int kMaxRows = 4096;
constexpr char kPrefix[] = "cvae.probe.";

absl::Status ReadTolerance(const Node& tolerances, const char* precision, double& tolerance) {
  const auto node = tolerances.Find(precision);
  if (!node) return absl::OkStatus();
  CVAE_ASSIGN_OR_RETURN(tolerance, node->Number());
  if (tolerance > 0 && tolerance <= 1) return absl::OkStatus();
  return node->Unexpected("a relative norm above 0, at most 1");
}

// The rows of every probe tensor, as x_hat, which each probe has, says.
absl::StatusOr<int> Rows(const Node& node, const Weights& weights) {
  CVAE_ASSIGN_OR_RETURN(const uint64_t rows, weights.Rows(absl::StrCat(kPrefix, "x_hat"), node.place()));
  if (rows >= 1 && rows <= kMaxRows) return static_cast<int>(rows);
  return node.Error(absl::StrCat(kPrefix, "x_hat has ", rows, " rows, expected 1 to ", kMaxRows));
}

}  // namespace

absl::StatusOr<Probe> ReadProbe(const Node& node, const Model& model, Weights& weights) {
  CVAE_RETURN_IF_ERROR(node.CheckKeys({}, {"tolerance"}));
  Probe probe;
  if (const auto tolerance = node.Find("tolerance")) {
    CVAE_RETURN_IF_ERROR(tolerance->CheckKeys({}, {"fp32", "bf16"}));
    CVAE_RETURN_IF_ERROR(ReadTolerance(*tolerance, "fp32", probe.fp32_tolerance));
    CVAE_RETURN_IF_ERROR(ReadTolerance(*tolerance, "bf16", probe.bf16_tolerance));
  }
  CVAE_ASSIGN_OR_RETURN(probe.rows, Rows(node, weights));
  const auto read = [&](const char* name, int width, std::vector<float>& values) -> absl::Status {
    const std::vector<uint64_t> shape = {static_cast<uint64_t>(probe.rows), static_cast<uint64_t>(width)};
    CVAE_ASSIGN_OR_RETURN(values, weights.Read(absl::StrCat(kPrefix, name), node.place(), shape));
    return absl::OkStatus();
  };
  if (model.condition_width > 0) CVAE_RETURN_IF_ERROR(read("condition", model.condition_width, probe.condition));
  CVAE_RETURN_IF_ERROR(read("eps", model.latent_width, probe.eps));
  CVAE_RETURN_IF_ERROR(read("x_hat", model.output_width, probe.x_hat));
  if (!model.encoder) return probe;
  CVAE_RETURN_IF_ERROR(read("x", model.input_width, probe.x));
  CVAE_RETURN_IF_ERROR(read("mu", model.latent_width, probe.mu));
  CVAE_RETURN_IF_ERROR(read("logvar", model.latent_width, probe.logvar));
  return probe;
}

}  // namespace cvae
