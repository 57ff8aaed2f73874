#include "tests/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/numerics/numerics.h"

namespace cvae {
namespace {

// The formulas in float: the project's own. In double: the textbook's.
float Fma(float a, float b, float c) { return scalar::Fma(a, b, c); }
double Fma(double a, double b, double c) { return a * b + c; }
float Activated(Activation activation, float x) { return scalar::Activate(activation, x); }
double Activated(Activation activation, double x) {
  const double a = activation.a;
  switch (activation.kind) {
    case Activation::kIdentity:
      return x;
    case Activation::kRelu:
      return x <= 0 ? 0 : x;  // NaN stays
    case Activation::kLeakyRelu:
      return x > 0 ? x : a * x;
    case Activation::kElu:
      return x > 0 ? x : a * std::expm1(x);
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGelu:
      return x / 2 * std::erfc(-x * std::sqrt(0.5));
    case Activation::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}
float Clamped(float x, float low, float high) { return scalar::Clamp(x, low, high); }
double Clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }  // NaN stays
float SampledZ(const LatentSpec& spec, float mu, float logvar, float eps) {
  return scalar::SampleZ(spec, mu, logvar, eps);
}
double SampledZ(const LatentSpec& spec, double mu, double logvar, double eps) {
  return mu + std::sqrt(std::exp(logvar) + spec.variance_eps) * eps;
}
float Bce(float logit, float x) { return scalar::BceElement(logit, x); }
double Bce(double logit, double x) { return std::max(logit, 0.0) - logit * x + std::log1p(std::exp(-std::abs(logit))); }
float Kl(const LatentSpec& spec, float mu, float logvar) { return scalar::KlElement(spec, mu, logvar); }
double Kl(const LatentSpec& spec, double mu, double logvar) {
  const double var = std::exp(logvar) + spec.variance_eps;
  return 0.5 * (mu * mu + var - 1 - (spec.kl_of_logvar ? logvar : std::log(var)));
}

// The sum over columns: 32 partials and a tree in float, from left to right in double.
float Sum(const std::vector<float>& elements) {
  float p[32] = {};
  for (size_t j = 0; j < elements.size(); ++j) p[j % 32] += elements[j];
  for (int half = 16; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) p[i] += p[i + half];
  }
  return p[0];
}
double Sum(const std::vector<double>& elements) {
  double sum = 0;
  for (const double element : elements) sum += element;
  return sum;
}
float SumOfSquares(const std::vector<float>& d) {
  float p[32] = {};
  for (size_t j = 0; j < d.size(); ++j) p[j % 32] = scalar::Fma(d[j], d[j], p[j % 32]);
  for (int half = 16; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) p[i] += p[i + half];
  }
  return p[0];
}
double SumOfSquares(const std::vector<double>& d) {
  double sum = 0;
  for (const double v : d) sum += v * v;
  return sum;
}

template <class T>
std::vector<T> Apply(const Linear& linear, const std::vector<T>& in) {
  std::vector<T> out;
  for (int row = 0; row < linear.out; ++row) {
    T acc = linear.bias[row];
    for (int k = 0; k < linear.in; ++k)
      acc = Fma(static_cast<T>(linear.weight[static_cast<size_t>(row) * linear.in + k]), in[k], acc);
    out.push_back(acc + T{0});
  }
  return out;
}

// Runs the layers; `before`, if not null, gets the values before a last activation.
template <class T>
std::vector<T> Apply(const Layers& layers, std::vector<T> values, std::vector<T>* before = nullptr) {
  for (const Operation& operation : layers) {
    if (before != nullptr) *before = values;
    if (const auto* linear = std::get_if<Linear>(&operation)) {
      values = Apply(*linear, values);
      if (before != nullptr) *before = values;
    } else {
      for (T& value : values) value = Activated(std::get<Activation>(operation), value);
    }
  }
  if (layers.empty() && before != nullptr) *before = values;
  return values;
}

// The dense condition of an input row: ids as one-hot.
template <class T>
void AppendCondition(const Model& model, const Condition& condition, size_t row, std::vector<T>* values) {
  size_t column = 0;
  for (size_t part = 0; part < model.condition.size(); ++part) {
    const int width = model.condition[part].width;
    const int32_t id = condition.ids == nullptr ? -1 : condition.ids[row * model.condition.size() + part];
    for (int k = 0; k < width; ++k) {
      values->push_back(id >= 0 ? T(k == id) : static_cast<T>(condition.y[row * model.condition_width + column + k]));
    }
    column += width;
  }
}

template <class T>
std::vector<T> Floats(const float* from, size_t row, size_t cols) {
  return std::vector<T>(from + row * cols, from + (row + 1) * cols);
}

void Store(const std::vector<float>& values, size_t row, float* out) {
  if (out == nullptr) return;
  for (size_t i = 0; i < values.size(); ++i) out[row * values.size() + i] = scalar::CanonicalNaN(values[i]);
}

}  // namespace

template <class T>
ReferenceRow<T> ReferenceForward(const Model& model, const RowSpan& span, uint32_t index) {
  const size_t input = (size_t{span.first_sample} + index) / span.samples;
  const uint32_t sample = (span.first_sample + index) % span.samples;
  const int latents = model.latent_width;
  ReferenceRow<T> row;
  if (span.pass != Pass::kDecode) {
    std::vector<T> values = Floats<T>(span.x, input, model.input_width);
    AppendCondition(model, span.encode_condition, input, &values);
    values = Apply(model.encoder->layers, std::move(values));
    row.mu = Apply(model.encoder->mu, values);
    row.logvar = Apply(model.encoder->logvar, values);
    for (T& v : row.logvar) v = Clamped(v, T{model.latent.logvar_min}, T{model.latent.logvar_max});
    for (int i = 0; i < latents; ++i) row.kl_elements.push_back(Kl(model.latent, row.mu[i], row.logvar[i]));
    row.kl = Sum(row.kl_elements);
  }
  if (span.pass == Pass::kEncode) return row;

  std::vector<float> eps(latents);
  if (span.noise == Noise::kSeed)
    scalar::FillNormals<uint32_t>(span.seed, span.first_row + input, sample, latents, eps.data());
  if (span.noise == Noise::kEps) eps = Floats<float>(span.eps, index, latents);
  for (int i = 0; i < latents; ++i) {
    const T e = eps[i];
    if (span.pass == Pass::kDecode) {
      row.z.push_back(
          span.noise == Noise::kSeed ? Clamped(span.temperature * e, T{model.latent.z_min}, T{model.latent.z_max}) : e);
    } else {
      row.z.push_back(span.noise == Noise::kMean ? row.mu[i] : SampledZ(model.latent, row.mu[i], row.logvar[i], e));
    }
  }
  std::vector<T> values = row.z;
  AppendCondition(model, span.decode_condition, input, &values);
  std::vector<T> before;
  row.x_hat = Apply(model.decoder, std::move(values), &before);

  // Without a target of its own a span of a model whose output is not as wide as its input has no reconstruction terms.
  const bool x_is_target = span.target == nullptr && model.input_width == model.output_width;
  const float* target = x_is_target ? span.x : span.target;
  if (target == nullptr) return row;
  const std::vector<T> x = Floats<T>(target, input, model.output_width);
  if (model.loss.element == LossElement::kBce) {
    for (size_t j = 0; j < x.size(); ++j) row.recon_elements.push_back(Bce(before[j], x[j]));
    row.recon = Sum(row.recon_elements);
  } else {
    std::vector<T> d;
    for (size_t j = 0; j < x.size(); ++j) d.push_back(row.x_hat[j] - x[j]);
    for (const T v : d) row.recon_elements.push_back(v * v);
    row.recon = SumOfSquares(d);
  }
  return row;
}

template ReferenceRow<float> ReferenceForward(const Model&, const RowSpan&, uint32_t);
template ReferenceRow<double> ReferenceForward(const Model&, const RowSpan&, uint32_t);

void RunReference(const Model& model, const RowSpan& span) {
  for (uint32_t index = 0; index < span.count; ++index) {
    const ReferenceRow<float> row = ReferenceForward<float>(model, span, index);
    const size_t input = (size_t{span.first_sample} + index) / span.samples;
    if ((span.first_sample + index) % span.samples == 0) {
      Store(row.mu, input, span.mu);
      Store(row.logvar, input, span.logvar);
      Store(row.kl_elements, input, span.kl_elements);
      Store({row.kl}, input, span.kl);
    }
    Store(row.z, index, span.z);
    Store(row.x_hat, index, span.x_hat);
    Store(row.recon_elements, index, span.recon_elements);
    Store({row.recon}, index, span.recon);
  }
}

}  // namespace cvae
