#include "tests/server/known_rows.h"

#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "kernels/losses.h"
#include "tests/kernels/models.h"

namespace cvae {
namespace {

absl::Span<const float> Rows(const std::vector<float>& all, int first, int count, int cols) {
  return absl::MakeConstSpan(all).subspan(static_cast<size_t>(first) * cols, static_cast<size_t>(count) * cols);
}

std::string Bytes(absl::Span<const float> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

bool Same(const v1::Matrix& matrix, absl::Span<const float> known) { return matrix.data() == Bytes(known); }

bool Same(const google::protobuf::RepeatedField<float>& values, absl::Span<const float> known) {
  return Bytes(values) == Bytes(known);
}

bool Same(double value, double known) { return std::memcmp(&value, &known, sizeof(known)) == 0; }

}  // namespace

KnownRows::KnownRows(std::shared_ptr<const Model> model, int rows) : model_(std::move(model)), rows_(rows) {
  std::mt19937 random(1);
  x_ = RandomFloats(random, static_cast<size_t>(rows) * model_->input_width);
  for (int i = 0; i < rows; ++i) labels_.push_back(static_cast<int32_t>(random() % model_->condition_width));

  RowSpan span;
  span.noise = Noise::kSeed;
  span.seed = kSeed;
  span.x = x_.data();
  forward_ = Run(span);
  span.samples = kSamples;
  sampled_ = Run(span);
  row_recon_.resize(rows);
  MeanOverSamples(sampled_.recon, kSamples, 1, absl::MakeSpan(row_recon_));
  span.pass = Pass::kDecode;
  generated_ = Run(span);
  span.samples = 1;
  span.noise = Noise::kEps;
  span.eps = forward_.mu.data();
  decoded_ = Run(span);
}

KnownRows::Outputs KnownRows::Run(RowSpan span) const {
  const size_t rows = rows_;
  const size_t computed = rows * span.samples;
  Outputs outputs;
  outputs.mu.resize(rows * model_->latent_width);
  outputs.logvar.resize(rows * model_->latent_width);
  outputs.z.resize(computed * model_->latent_width);
  outputs.x_hat.resize(computed * model_->output_width);
  outputs.recon.resize(computed);
  outputs.kl.resize(rows);
  span.count = static_cast<uint32_t>(computed);
  span.encode_condition.ids = span.decode_condition.ids = labels_.data();
  span.z = outputs.z.data();
  span.x_hat = outputs.x_hat.data();
  if (span.pass == Pass::kForward) {
    span.mu = outputs.mu.data();
    span.logvar = outputs.logvar.data();
    span.recon = outputs.recon.data();
    span.kl = outputs.kl.data();
  }
  RunReference(*model_, span);
  return outputs;
}

namespace {

template <class Request>
void AskCommon(Stretch stretch, const std::vector<int32_t>& labels, Request* request) {
  for (int i = 0; i < stretch.count; ++i) request->add_labels(labels[stretch.first + i]);
  request->set_first_row(stretch.first);
  request->set_encoding(v1::Matrix::DATA);
}

}  // namespace

void KnownRows::Ask(Stretch stretch, v1::EncodeRequest* request) const {
  AskCommon(stretch, labels_, request);
  request->mutable_x()->set_data(Bytes(Rows(x_, stretch.first, stretch.count, model_->input_width)));
}

void KnownRows::Ask(Stretch stretch, v1::ReconstructRequest* request) const {
  AskCommon(stretch, labels_, request);
  request->mutable_x()->set_data(Bytes(Rows(x_, stretch.first, stretch.count, model_->input_width)));
  request->set_seed(kSeed);
  request->set_return_z(true);
  request->set_return_loss(true);
  request->set_per_row(true);
}

void KnownRows::Ask(Stretch stretch, v1::LossRequest* request) const {
  AskCommon(stretch, labels_, request);
  request->mutable_x()->set_data(Bytes(Rows(x_, stretch.first, stretch.count, model_->input_width)));
  request->set_seed(kSeed);
  request->set_num_samples(kSamples);
  request->set_per_row(true);
}

void KnownRows::Ask(Stretch stretch, v1::DecodeRequest* request) const {
  AskCommon(stretch, labels_, request);
  request->mutable_z()->set_data(Bytes(Rows(forward_.mu, stretch.first, stretch.count, model_->latent_width)));
}

void KnownRows::Ask(Stretch stretch, v1::GenerateRequest* request) const {
  AskCommon(stretch, labels_, request);
  request->set_seed(kSeed);
  request->set_samples_per_row(kSamples);
  request->set_return_z(true);
}

bool KnownRows::Matches(Stretch stretch, const v1::EncodeResponse& answer) const {
  const auto [first, count] = stretch;
  return Same(answer.mu(), Rows(forward_.mu, first, count, model_->latent_width)) &&
         Same(answer.logvar(), Rows(forward_.logvar, first, count, model_->latent_width));
}

bool KnownRows::Matches(Stretch stretch, const v1::ReconstructResponse& answer) const {
  const auto [first, count] = stretch;
  const auto recon = Rows(forward_.recon, first, count, 1);
  const auto kl = Rows(forward_.kl, first, count, 1);
  return Same(answer.x_hat(), Rows(forward_.x_hat, first, count, model_->output_width)) &&
         Same(answer.z(), Rows(forward_.z, first, count, model_->latent_width)) && Same(answer.row_recon(), recon) &&
         Same(answer.row_kl(), kl) && Same(answer.loss(), FoldRows(model_->loss, recon, kl).loss);
}

bool KnownRows::Matches(Stretch stretch, const v1::LossResponse& answer) const {
  const auto [first, count] = stretch;
  const auto recon = Rows(row_recon_, first, count, 1);
  const auto kl = Rows(sampled_.kl, first, count, 1);
  return Same(answer.row_recon(), recon) && Same(answer.row_kl(), kl) &&
         Same(answer.loss(), FoldRows(model_->loss, recon, kl).loss);
}

bool KnownRows::Matches(Stretch stretch, const v1::DecodeResponse& answer) const {
  return Same(answer.x_hat(), Rows(decoded_.x_hat, stretch.first, stretch.count, model_->output_width));
}

bool KnownRows::Matches(Stretch stretch, const v1::GenerateResponse& answer) const {
  const int first = stretch.first * kSamples, count = stretch.count * kSamples;
  return Same(answer.x_hat(), Rows(generated_.x_hat, first, count, model_->output_width)) &&
         Same(answer.z(), Rows(generated_.z, first, count, model_->latent_width));
}

}  // namespace cvae
