// What a fuzzer asserts: unlike assert(), in every build.

#ifndef CVAE_TESTS_FUZZ_CHECK_H_
#define CVAE_TESTS_FUZZ_CHECK_H_

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "kernels/model/model.h"

#define CVAE_FUZZ_CHECK(condition)                                             \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                            \
    }                                                                          \
  } while (false)

namespace cvae {

// A refusal is INVALID_ARGUMENT with a message fit for a log: printable and short.
inline void CheckRefusal(const absl::Status& status) {
  CVAE_FUZZ_CHECK(absl::IsInvalidArgument(status));
  CVAE_FUZZ_CHECK(!status.message().empty() && status.message().size() < 2000);
  for (const char c : status.message()) CVAE_FUZZ_CHECK(c >= 0x20 && c < 0x7f);
}

inline void CheckLinear(const Linear& linear, int in) {
  CVAE_FUZZ_CHECK(linear.in == in && linear.out >= 1);
  CVAE_FUZZ_CHECK(linear.weight.size() == static_cast<size_t>(linear.in) * linear.out);
  CVAE_FUZZ_CHECK(linear.bias.size() == static_cast<size_t>(linear.out));
  for (const float weight : linear.weight) CVAE_FUZZ_CHECK(std::isfinite(weight));
  for (const float bias : linear.bias) CVAE_FUZZ_CHECK(std::isfinite(bias));
}

// Checks that the layers fit each other; returns their output's width.
inline int CheckLayers(const Layers& layers, int in) {
  for (const Operation& operation : layers) {
    if (const auto* linear = std::get_if<Linear>(&operation)) {
      CheckLinear(*linear, in);
      in = linear->out;
    } else {
      CVAE_FUZZ_CHECK(std::get<Activation>(operation) != Activation::kIdentity);
    }
  }
  return in;
}

// Checks all that model.h promises of a loaded model.
inline void CheckModel(const Model& model) {
  CVAE_FUZZ_CHECK(model.input_width >= 1 && model.latent_width >= 1 && model.output_width >= 1);
  int condition_width = 0;
  for (const ConditionPart& part : model.condition) {
    CVAE_FUZZ_CHECK(part.width >= 1 && !part.name.empty());
    CVAE_FUZZ_CHECK(part.class_names.empty() || part.class_names.size() == static_cast<size_t>(part.width));
    condition_width += part.width;
  }
  CVAE_FUZZ_CHECK(condition_width == model.condition_width);
  if (model.encoder) {
    const int hidden = CheckLayers(model.encoder->layers, model.input_width + condition_width);
    CheckLinear(model.encoder->mu, hidden);
    CheckLinear(model.encoder->logvar, hidden);
    CVAE_FUZZ_CHECK(model.encoder->mu.out == model.latent_width && model.encoder->logvar.out == model.latent_width);
  }
  CVAE_FUZZ_CHECK(CheckLayers(model.decoder, model.latent_width + condition_width) == model.output_width);
  CVAE_FUZZ_CHECK(std::isfinite(model.loss.recon_weight) && std::isfinite(model.loss.kl_weight));
  if (!model.probe) return;
  const Probe& probe = *model.probe;
  const auto filled = [&](const std::vector<float>& values, int width) {
    return values.size() == static_cast<size_t>(probe.rows) * width;
  };
  CVAE_FUZZ_CHECK(probe.rows >= 1 && probe.fp32_tolerance > 0);
  CVAE_FUZZ_CHECK(filled(probe.condition, condition_width) && filled(probe.eps, model.latent_width));
  CVAE_FUZZ_CHECK(filled(probe.x_hat, model.output_width));
  CVAE_FUZZ_CHECK(filled(probe.x, model.encoder ? model.input_width : 0));
}

}  // namespace cvae

#endif  // CVAE_TESTS_FUZZ_CHECK_H_
