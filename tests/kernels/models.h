// Models with random weights, and spans over random inputs, for tests of engines.

#ifndef CVAE_TESTS_KERNELS_MODELS_H_
#define CVAE_TESTS_KERNELS_MODELS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/engine.h"
#include "kernels/model/model.h"

namespace cvae {

// What a model is made of. Condition parts: {width, classes}.
struct Shape {
  const char* name;
  int input;
  std::vector<std::pair<int, bool>> parts;
  std::vector<int> encoder;  // hidden widths
  int latent;
  std::vector<int> decoder;
  Activation hidden = Activation::kRelu;
  Activation output = Activation::kIdentity;
  LossElement element = LossElement::kSquaredError;
  int target = 0;  // output width, where it is not the input's
  LatentSpec latent_spec = {};
};

// What GoogleTest calls a shape in its messages.
inline void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

inline std::vector<float> RandomFloats(std::mt19937& random, size_t count, float scale = 1) {
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

inline Linear RandomLinear(std::mt19937& random, int in, int out) {
  const float scale = 1 / std::sqrt(static_cast<float>(in));
  return {"linear", in, out, RandomFloats(random, static_cast<size_t>(in) * out, scale),
          RandomFloats(random, out, scale)};
}

inline Model RandomModel(const Shape& shape) {
  std::mt19937 random(static_cast<uint32_t>(std::strlen(shape.name)) * 977 + shape.input);
  Model model;
  model.name = shape.name;
  model.input_width = shape.input;
  model.output_width = shape.target > 0 ? shape.target : shape.input;
  model.latent_width = shape.latent;
  for (const auto& [width, classes] : shape.parts) {
    ConditionPart part;
    part.name = "part" + std::to_string(model.condition.size());
    part.width = width;
    part.classes = classes;
    model.condition.push_back(part);
    model.condition_width += width;
  }
  Encoder encoder;
  int width = shape.input + model.condition_width;
  for (const int out : shape.encoder) {
    encoder.layers.push_back(RandomLinear(random, width, out));
    if (shape.hidden != Activation::kIdentity) encoder.layers.push_back(shape.hidden);
    width = out;
  }
  encoder.mu = RandomLinear(random, width, shape.latent);
  encoder.logvar = RandomLinear(random, width, shape.latent);
  model.encoder = std::move(encoder);
  width = shape.latent + model.condition_width;
  for (const int out : shape.decoder) {
    model.decoder.push_back(RandomLinear(random, width, out));
    if (shape.hidden != Activation::kIdentity) model.decoder.push_back(shape.hidden);
    width = out;
  }
  model.decoder.push_back(RandomLinear(random, width, model.output_width));
  if (shape.output != Activation::kIdentity) model.decoder.push_back(shape.output);
  model.latent = shape.latent_spec;
  model.loss.element = shape.element;
  model.loss.logits = shape.output == Activation::kIdentity;
  return model;
}

// The shapes that engines are held to: the reference, larger and odd ones, no condition, no hidden layer, deep ones.
inline std::vector<Shape> Shapes() {
  const Activation kId = Activation::kIdentity;
  const Activation kSig = Activation::kSigmoid;
  const Activation kLeaky = {Activation::kLeakyRelu, 0.2f};
  const Activation kElu = {Activation::kElu, 0.7f};
  const auto kBce = LossElement::kBce;
  return {
      {"reference", 256, {{10, true}}, {128}, 32, {128}},
      {"mnist", 784, {{10, true}}, {400}, 20, {400}, Activation::kRelu, kSig, kBce},
      {"odd", 257, {{3, true}}, {129}, 31, {129}},
      {"one hidden unit", 5, {{2, true}}, {1}, 1, {1}},
      {"no condition", 19, {}, {33}, 7, {33}, Activation::kRelu, kId, kBce},
      {"no hidden layer", 23, {{4, true}}, {}, 5, {}},
      {"deep", 40, {{3, false}}, {64, 17, 50}, 9, {50, 17, 64}, kSig, kId},
      {"another target", 21, {{2, true}}, {40}, 6, {40}, Activation::kRelu, kId, LossElement::kSquaredError, 150},
      {"parts", 30, {{4, true}, {2, false}, {3, true}}, {48, 20}, 12, {20, 48}, Activation::kRelu, kSig},
      {"clamps", 22, {{2, true}}, {20}, 19, {18}, kId, kId, kBce, 0, {-0.5f, 0.25f, 0, false, -0.5f, 0.5f}},
      {"clamps apart from 0", 22, {}, {20}, 19, {18}, kId, kId, kBce, 0, {1, 2, 0, true, 0.25f, 0.5f}},
      {"variance eps", 23, {{2, true}}, {20}, 35, {18}, kLeaky, kId, kBce, 0, {-8, 30, 0.01f}},
      {"variance eps and kl of logvar", 24, {}, {}, 3, {}, kId, kSig, kBce, 0, {-8, 0, 1, true}},
      // Each activation, in hidden and in output layers.
      {"leaky relu", 17, {{3, true}}, {21}, 5, {35}, kLeaky, Activation::kTanh},
      {"elu", 18, {{3, true}}, {33}, 5, {34}, kElu, Activation::kSoftplus},
      {"silu", 19, {{3, true}}, {16}, 5, {33}, Activation::kSilu, Activation::kGelu},
      {"gelu", 20, {{3, true}}, {15}, 5, {32}, Activation::kGelu, Activation::kSilu},
      {"gelu by tanh", 21, {{3, true}}, {40}, 5, {31}, Activation::kGeluTanh, kElu},
      {"tanh", 33, {{3, true}}, {41}, 5, {30}, Activation::kTanh, kLeaky},
      {"softplus", 34, {{3, true}}, {42}, 5, {29}, Activation::kSoftplus, Activation::kGeluTanh},
  };
}

// A span with inputs of its own; copied inputs stay valid for as long as it lives.
struct OwnedSpan {
  RowSpan span;
  std::vector<float> x, y, eps, target, decode_y;
  std::vector<int32_t> ids, decode_ids;
  std::vector<float> mu, logvar, z, x_hat, recon, kl, recon_elements, kl_elements;

  // Allocates all outputs, poisoned, with a guard word behind each, and points the span at them.
  void WantAll(const Model& model) {
    const auto want = [](std::vector<float>& out, size_t count) {
      out.assign(count + 1, -12345.0f);
      return out.data();
    };
    const size_t inputs = span.input_rows(), rows = span.count;
    if (span.pass != Pass::kDecode) {
      span.mu = want(mu, inputs * model.latent_width);
      span.logvar = want(logvar, inputs * model.latent_width);
      span.kl = want(kl, inputs);
      span.kl_elements = want(kl_elements, inputs * model.latent_width);
    }
    if (span.pass == Pass::kEncode) return;
    span.z = want(z, rows * model.latent_width);
    span.x_hat = want(x_hat, rows * model.output_width);
    if (span.pass == Pass::kDecode) return;
    span.recon = want(recon, rows);
    span.recon_elements = want(recon_elements, rows * model.output_width);
  }

  std::vector<const std::vector<float>*> Outputs() const {
    return {&mu, &logvar, &z, &x_hat, &recon, &kl, &recon_elements, &kl_elements};
  }
};

// A random span of `count` computed rows in one of the ways that requests come in.
inline OwnedSpan RandomSpan(const Model& model, std::mt19937& random, uint32_t count) {
  const auto pick = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  OwnedSpan owned;
  RowSpan& span = owned.span;
  span.count = count;
  span.pass = static_cast<Pass>(pick(3));
  if (span.pass != Pass::kEncode && pick(3) == 0) {
    span.samples = 1 + pick(5);
    span.first_sample = pick(span.samples);
  }
  span.noise = static_cast<Noise>(pick(3));
  span.seed = (uint64_t{random()} << 32) | random();
  span.first_row = (uint64_t{random()} << 20) + pick(1000);
  span.temperature = pick(2) ? 1.0f : 0.7f;
  const size_t inputs = span.input_rows();
  if (span.pass != Pass::kDecode) {
    owned.x = RandomFloats(random, inputs * model.input_width);
    for (float& v : owned.x) v = model.loss.element == LossElement::kBce ? std::fabs(std::fmod(v, 1.0f)) : v;
    span.x = owned.x.data();
  }
  if (span.noise == Noise::kEps) {
    owned.eps = RandomFloats(random, size_t{count} * model.latent_width);
    span.eps = owned.eps.data();
  }
  if (model.condition_width > 0) {
    const size_t parts = model.condition.size();
    owned.y = RandomFloats(random, inputs * model.condition_width);
    span.encode_condition.y = owned.y.data();
    if (pick(2)) {
      std::vector<bool> as_ids(parts);
      for (size_t p = 0; p < parts; ++p) as_ids[p] = model.condition[p].classes && pick(4) != 0;
      for (size_t i = 0; i < inputs * parts; ++i) {
        const size_t p = i % parts;
        owned.ids.push_back(as_ids[p] ? static_cast<int32_t>(pick(model.condition[p].width)) : -1);
      }
      span.encode_condition.ids = owned.ids.data();
    }
    span.decode_condition = span.encode_condition;
    if (pick(4) == 0) {
      owned.decode_y = RandomFloats(random, inputs * model.condition_width);
      span.decode_condition = {owned.decode_y.data(), nullptr};
    }
  }
  if (span.pass == Pass::kForward && (pick(4) == 0 || model.output_width != model.input_width)) {
    owned.target = RandomFloats(random, inputs * model.output_width);
    for (float& v : owned.target) v = model.loss.element == LossElement::kBce ? std::fabs(std::fmod(v, 1.0f)) : v;
    span.target = owned.target.data();
  }
  owned.WantAll(model);
  return owned;
}

// The first place where outputs differ, or nothing.
inline std::string Difference(const OwnedSpan& got, const OwnedSpan& expected) {
  static constexpr const char* kNames[] = {"mu", "logvar",         "z",          "x_hat", "recon",
                                           "kl", "recon_elements", "kl_elements"};
  const auto a = got.Outputs(), b = expected.Outputs();
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i]->size(); ++j) {
      if (std::memcmp(&(*a[i])[j], &(*b[i])[j], sizeof(float)) != 0) {
        return std::string(kNames[i]) + "[" + std::to_string(j) + "]: " + std::to_string((*a[i])[j]) + ", expected " +
               std::to_string((*b[i])[j]);
      }
    }
  }
  return "";
}

// A copy of the span's inputs and settings, with fresh outputs.
inline OwnedSpan Fresh(const OwnedSpan& from, const Model& model) {
  OwnedSpan copy = from;
  const auto moved = [](const auto* pointer, auto& vector) { return pointer == nullptr ? nullptr : vector.data(); };
  copy.span.x = moved(copy.span.x, copy.x);
  copy.span.eps = moved(copy.span.eps, copy.eps);
  copy.span.target = moved(copy.span.target, copy.target);
  copy.span.encode_condition = {moved(from.span.encode_condition.y, copy.y),
                                moved(from.span.encode_condition.ids, copy.ids)};
  copy.span.decode_condition =
      from.decode_y.empty() ? copy.span.encode_condition : Condition{copy.decode_y.data(), nullptr};
  copy.WantAll(model);
  return copy;
}

// The spans with their inputs copied into a session's staging memory, as the server gathers them.
inline std::vector<RowSpan> StageSpans(const Model& model, const std::vector<RowSpan>& spans, Session& session) {
  std::byte* free = session.staging().data();
  const auto stage = [&free](const auto*& from, size_t count) {
    if (from == nullptr) return;
    std::memcpy(free, from, count * sizeof(*from));
    from = reinterpret_cast<std::remove_reference_t<decltype(from)>>(free);
    free += (count * sizeof(*from) + kStagingAlign - 1) / kStagingAlign * kStagingAlign;
  };
  std::vector<RowSpan> staged = spans;
  for (RowSpan& span : staged) {
    const size_t inputs = span.input_rows();
    stage(span.x, inputs * model.input_width);
    stage(span.eps, size_t{span.count} * model.latent_width);
    stage(span.target, inputs * model.output_width);
    for (Condition* condition : {&span.encode_condition, &span.decode_condition}) {
      stage(condition->y, inputs * model.condition_width);
      stage(condition->ids, inputs * model.condition.size());
    }
  }
  return staged;
}

}  // namespace cvae

#endif  // CVAE_TESTS_KERNELS_MODELS_H_
