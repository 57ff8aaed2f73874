#include "kernels/probe.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

// Copies `values` to the front of `free`, and moves `free` behind them.
const float* Stage(const std::vector<float>& values, absl::Span<std::byte>* free) {
  if (values.empty()) return nullptr;
  const size_t bytes = values.size() * sizeof(float);
  std::memcpy(free->data(), values.data(), bytes);
  const auto* staged = reinterpret_cast<const float*>(free->data());
  free->remove_prefix((bytes + kStagingAlign - 1) / kStagingAlign * kStagingAlign);
  return staged;
}

absl::Status Compare(const char* name, const std::vector<float>& out, const std::vector<float>& expected,
                     double tolerance) {
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(double{out[i]} - expected[i], 2);
    norm += std::pow(double{expected[i]}, 2);
  }
  const double error = difference == 0 ? 0 : std::sqrt(difference / norm);
  if (error <= tolerance) return absl::OkStatus();  // a NaN is not
  return absl::FailedPreconditionError(absl::StrCat("probe: ", name, " is off by ", error,
                                                    " (relative norm), expected at most ", tolerance,
                                                    ": the file does not describe the function that made its probe"));
}

}  // namespace

absl::Status ReplayProbe(Engine& engine) {
  const Model& model = engine.model();
  if (!model.probe) return absl::OkStatus();
  const Probe& probe = *model.probe;
  CVAE_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, engine.NewSession(probe.rows));
  absl::Span<std::byte> free = session->staging();
  std::vector<float> mu(probe.mu.size());
  std::vector<float> logvar(probe.logvar.size());
  std::vector<float> x_hat(probe.x_hat.size());
  RowSpan span;
  span.pass = model.encoder ? Pass::kForward : Pass::kDecode;
  span.count = static_cast<uint32_t>(probe.rows);
  span.noise = Noise::kEps;
  span.x = model.encoder ? Stage(probe.x, &free) : nullptr;
  span.eps = Stage(probe.eps, &free);
  span.encode_condition.y = span.decode_condition.y = Stage(probe.condition, &free);
  span.mu = mu.empty() ? nullptr : mu.data();
  span.logvar = logvar.empty() ? nullptr : logvar.data();
  span.x_hat = x_hat.data();
  CVAE_RETURN_IF_ERROR(session->Run({&span, 1}));
  const double tolerance = probe.fp32_tolerance;
  CVAE_RETURN_IF_ERROR(Compare("mu", mu, probe.mu, tolerance));
  CVAE_RETURN_IF_ERROR(Compare("logvar", logvar, probe.logvar, tolerance));
  return Compare("x_hat", x_hat, probe.x_hat, tolerance);
}

}  // namespace cvae
