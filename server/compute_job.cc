#include "server/compute_job.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "kernels/losses.h"
#include "server/errors.h"
#include "server/messages.h"
#include "server/validate.h"

namespace cvae {
namespace {

constexpr ExpectedRows RowsOfX(uint64_t rows) { return {rows, "rows of x"}; }

bool UsesData(const v1::Matrix& matrix) { return !matrix.data().empty(); }

template <class Source>
bool ConditionUsesData(const Source& source) {
  if (UsesData(source.y())) return true;
  for (const auto& [name, part] : source.parts()) {
    if (UsesData(part.values())) return true;
  }
  return false;
}

// Whether answers' matrices go as `data`. `matrices_use_data`: one of the request's does.
bool AnswerAsData(v1::Matrix::Encoding encoding, bool matrices_use_data) {
  return encoding == v1::Matrix::DATA || (encoding != v1::Matrix::VALUES && matrices_use_data);
}

uint64_t DrawSeed() {
  thread_local absl::BitGen generator;
  return absl::Uniform<uint64_t>(generator);
}

// The message and the answer of one RPC, and what the RPCs' jobs have in common.
template <class Request, class Response>
class TypedJob : public ComputeJob {
 public:
  TypedJob(Request request, const ModelFacts& facts)
      : request_(std::move(request)), facts_(facts), model_(*facts.model) {}

 protected:
  // Checks the fields that all requests have.
  absl::Status ViewCommon() {
    if (!v1::Matrix::Finite_IsValid(request_.finite())) {
      return FieldError("finite", absl::StrCat("got ", request_.finite(), ", expected REJECT or PROPAGATE"));
    }
    if (!v1::Matrix::Encoding_IsValid(request_.encoding())) {
      return FieldError("encoding", absl::StrCat("got ", request_.encoding(), ", expected AUTO, VALUES or DATA"));
    }
    check_finite = request_.finite() == v1::Matrix::REJECT;
    first_row = request_.first_row();
    bytes = request_.ByteSizeLong();
    return absl::OkStatus();
  }

  // Views x and the condition of the encoder.
  absl::Status ViewRows() {
    if (!model_.encoder) {
      return absl::FailedPreconditionError(
          absl::StrCat("model ", Quote(facts_.name), " is a decoder alone: it serves Decode and Generate"));
    }
    CVAE_ASSIGN_OR_RETURN(x, ViewMatrix(request_.x(), "x", model_.input_width, facts_, std::nullopt));
    rows = x.rows;
    CVAE_ASSIGN_OR_RETURN(encode_condition, ViewCondition(request_, "", facts_, RowsOfX(rows)));
    return absl::OkStatus();
  }

  // Views the noise. `unset`: what a request gets that says nothing. REQUIRES: rows and samples are set.
  absl::Status ViewNoise(Noise unset) {
    switch (request_.noise_case()) {
      case Request::kSeed:
        noise = Noise::kSeed;
        seed = request_.seed();
        return absl::OkStatus();
      case Request::kMean:
        noise = Noise::kMean;
        if (samples > 1) {
          return FieldError(
              "mean", absl::StrCat("got mean with ", samples, " samples a row, which would all be equal; give a seed"));
        }
        return absl::OkStatus();
      case Request::kEps: {
        noise = Noise::kEps;
        CVAE_ASSIGN_OR_RETURN(eps, ViewMatrix(request_.eps(), "eps", model_.latent_width, facts_,
                                              ExpectedRows{computed_rows(), "computed rows (rows * samples)"}));
        return absl::OkStatus();
      }
      default:
        noise = unset;
        if (noise == Noise::kSeed) seed = DrawSeed();
        return absl::OkStatus();
    }
  }

  Noise DefaultNoiseOf(uint32_t samples) const {
    return model_.noise == DefaultNoise::kMean && samples == 1 ? Noise::kMean : Noise::kSeed;
  }

  // Views the target. A model whose output is not as wide as its input cannot be compared with x.
  absl::Status ViewTarget(bool wants_loss) {
    if (request_.has_target()) {
      CVAE_ASSIGN_OR_RETURN(target,
                            ViewMatrix(request_.target(), "target", model_.output_width, facts_, RowsOfX(rows)));
      return absl::OkStatus();
    }
    if (!wants_loss || model_.output_width == model_.input_width) return absl::OkStatus();
    return FieldError("target",
                      absl::StrCat("missing: model ", Quote(facts_.name), " has an output of ", model_.output_width,
                                   " columns to compare with, not the input's ", model_.input_width));
  }

  // Checks the answer's size: `floats` of arrays.
  absl::Status CheckAnswer(uint64_t floats) {
    const uint64_t answer_bytes = floats * sizeof(float);
    CVAE_RETURN_IF_ERROR(CheckAnswerBytes(answer_bytes, facts_));
    bytes += answer_bytes;
    return absl::OkStatus();
  }

  // A [rows, cols] matrix of the answer, allocated.
  float* NewMatrix(v1::Matrix* matrix, uint64_t matrix_rows, int cols) const {
    matrix->set_rows(static_cast<uint32_t>(matrix_rows));
    matrix->set_cols(static_cast<uint32_t>(cols));
    const size_t count = matrix_rows * cols;
    if (as_data_) {
      matrix->mutable_data()->resize(count * sizeof(float));
      return reinterpret_cast<float*>(matrix->mutable_data()->data());
    }
    matrix->mutable_values()->Resize(static_cast<int>(count), 0);
    return matrix->mutable_values()->mutable_data();
  }

  void set_as_data(bool matrices_use_data) { as_data_ = AnswerAsData(request_.encoding(), matrices_use_data); }

  void AnswerSeed() {
    if (noise == Noise::kSeed) response_.set_seed(seed);
  }

  grpc::ByteBuffer Answer() override {
    response_.set_version(facts_.version);
    FillAnswer();
    return SerializeMessage(response_);
  }

  // What is to be done when all arrays are computed.
  virtual void FillAnswer() {}

  const Request request_;
  const ModelFacts& facts_;
  const Model& model_;
  Response response_;

 private:
  bool as_data_ = false;
};

class EncodeJob final : public TypedJob<v1::EncodeRequest, v1::EncodeResponse> {
 public:
  using TypedJob::TypedJob;

  absl::Status View() {
    CVAE_RETURN_IF_ERROR(ViewCommon());
    pass = Pass::kEncode;
    CVAE_RETURN_IF_ERROR(ViewRows());
    CVAE_RETURN_IF_ERROR(CheckRows(rows, 1, first_row, "", facts_));
    set_as_data(UsesData(request_.x()) || ConditionUsesData(request_));
    return CheckAnswer(rows * 2 * model_.latent_width);
  }

 protected:
  void Allocate(RowSpan* outputs) override {
    outputs->mu = NewMatrix(response_.mutable_mu(), rows, model_.latent_width);
    outputs->logvar = NewMatrix(response_.mutable_logvar(), rows, model_.latent_width);
  }
};

// What Reconstruct and Loss share: the loss terms.
template <class Request, class Response>
class LossTermsJob : public TypedJob<Request, Response> {
 public:
  using Base = TypedJob<Request, Response>;
  using Base::Base;

 protected:
  using Base::facts_;
  using Base::model_;
  using Base::request_;
  using Base::response_;

  absl::Status ViewLoss() {
    wants_loss_ = true;
    this->check_unit = model_.loss.element == LossElement::kBce;
    return absl::OkStatus();
  }

  // Floats that the loss terms take, of the answer and on the way to it.
  uint64_t LossFloats() const {
    if (!wants_loss_) return 0;
    uint64_t floats = this->computed_rows() + this->rows;
    if (request_.per_row()) floats += 2 * this->rows;
    if (request_.per_column()) {
      floats += this->computed_rows() * model_.output_width;
      if (this->samples > 1) floats += this->rows * model_.output_width;
    }
    if (request_.per_latent()) floats += this->rows * model_.latent_width;
    return floats;
  }

  void AllocateLoss(RowSpan* outputs) {
    if (!wants_loss_) return;
    recon_.resize(this->computed_rows());
    kl_.resize(this->rows);
    outputs->recon = recon_.data();
    outputs->kl = kl_.data();
    if (request_.per_column()) {
      column_recon_ = this->NewMatrix(response_.mutable_column_recon(), this->rows, model_.output_width);
      if (this->samples > 1) elements_.resize(this->computed_rows() * model_.output_width);
      outputs->recon_elements = this->samples > 1 ? elements_.data() : column_recon_;
    }
    if (request_.per_latent()) {
      outputs->kl_elements = this->NewMatrix(response_.mutable_latent_kl(), this->rows, model_.latent_width);
    }
  }

  void FillLoss() {
    if (!wants_loss_) return;
    std::vector<float> row_recon(this->rows);
    MeanOverSamples(recon_, this->samples, 1, absl::MakeSpan(row_recon));
    const LossTerms terms = FoldRows(model_.loss, row_recon, kl_);
    response_.set_loss(terms.loss);
    response_.set_recon_loss(terms.recon_loss);
    response_.set_kl_loss(terms.kl_loss);
    if (request_.per_row()) {
      response_.mutable_row_recon()->Add(row_recon.begin(), row_recon.end());
      response_.mutable_row_kl()->Add(kl_.begin(), kl_.end());
    }
    if (request_.per_column() && this->samples > 1) {
      const size_t count = this->rows * model_.output_width;
      MeanOverSamples(elements_, this->samples, model_.output_width, absl::MakeSpan(column_recon_, count));
    }
  }

  bool wants_loss_ = false;

 private:
  std::vector<float> recon_;     // [B * S]
  std::vector<float> kl_;        // [B]
  std::vector<float> elements_;  // [B * S, O], with several samples
  float* column_recon_ = nullptr;
};

class ReconstructJob final : public LossTermsJob<v1::ReconstructRequest, v1::ReconstructResponse> {
 public:
  using LossTermsJob::LossTermsJob;

  absl::Status View() {
    CVAE_RETURN_IF_ERROR(ViewCommon());
    CVAE_RETURN_IF_ERROR(ViewRows());
    CVAE_RETURN_IF_ERROR(CheckRows(rows, 1, first_row, "", facts_));
    CVAE_RETURN_IF_ERROR(ViewNoise(DefaultNoiseOf(1)));
    if (request_.has_decode_condition()) {
      CVAE_ASSIGN_OR_RETURN(decode_condition,
                            ViewCondition(request_.decode_condition(), "decode_condition.", facts_, RowsOfX(rows)));
    }
    CVAE_RETURN_IF_ERROR(ViewLossFlags());
    set_as_data(UsesData(request_.x()) || UsesData(request_.eps()) || UsesData(request_.target()) ||
                ConditionUsesData(request_) || ConditionUsesData(request_.decode_condition()));
    const uint64_t floats = rows * (model_.output_width + (request_.return_z() ? model_.latent_width : 0));
    return CheckAnswer(floats + LossFloats());
  }

 protected:
  void Allocate(RowSpan* outputs) override {
    outputs->x_hat = NewMatrix(response_.mutable_x_hat(), rows, model_.output_width);
    if (request_.return_z()) outputs->z = NewMatrix(response_.mutable_z(), rows, model_.latent_width);
    AllocateLoss(outputs);
  }

  void FillAnswer() override {
    AnswerSeed();
    FillLoss();
  }

 private:
  // The fields that mean something only with return_loss.
  absl::Status ViewLossFlags() {
    if (request_.return_loss()) {
      CVAE_RETURN_IF_ERROR(ViewLoss());
    } else {
      for (const auto& [set, field] :
           {std::pair(request_.per_row(), "per_row"), std::pair(request_.per_column(), "per_column"),
            std::pair(request_.per_latent(), "per_latent"), std::pair(request_.has_target(), "target")}) {
        if (set) return FieldError(field, "got it without return_loss, expected return_loss to be true");
      }
    }
    return ViewTarget(request_.return_loss());
  }
};

class LossJob final : public LossTermsJob<v1::LossRequest, v1::LossResponse> {
 public:
  using LossTermsJob::LossTermsJob;

  absl::Status View() {
    CVAE_RETURN_IF_ERROR(ViewCommon());
    CVAE_RETURN_IF_ERROR(ViewRows());
    samples = std::max(1u, request_.num_samples());
    CVAE_RETURN_IF_ERROR(CheckRows(rows, samples, first_row, "num_samples", facts_));
    CVAE_RETURN_IF_ERROR(ViewNoise(DefaultNoiseOf(samples)));
    CVAE_RETURN_IF_ERROR(ViewLoss());
    CVAE_RETURN_IF_ERROR(ViewTarget(true));
    set_as_data(UsesData(request_.x()) || UsesData(request_.eps()) || UsesData(request_.target()) ||
                ConditionUsesData(request_));
    return CheckAnswer(LossFloats());
  }

 protected:
  void Allocate(RowSpan* outputs) override { AllocateLoss(outputs); }

  void FillAnswer() override {
    AnswerSeed();
    FillLoss();
  }
};

class DecodeJob final : public TypedJob<v1::DecodeRequest, v1::DecodeResponse> {
 public:
  using TypedJob::TypedJob;

  absl::Status View() {
    CVAE_RETURN_IF_ERROR(ViewCommon());
    pass = Pass::kDecode;
    noise = Noise::kEps;
    CVAE_ASSIGN_OR_RETURN(eps, ViewMatrix(request_.z(), "z", model_.latent_width, facts_, std::nullopt));
    rows = eps.rows;
    CVAE_ASSIGN_OR_RETURN(decode_condition, ViewCondition(request_, "", facts_, ExpectedRows{rows, "rows of z"}));
    CVAE_RETURN_IF_ERROR(CheckRows(rows, 1, first_row, "", facts_));
    set_as_data(UsesData(request_.z()) || ConditionUsesData(request_));
    return CheckAnswer(rows * model_.output_width);
  }

 protected:
  void Allocate(RowSpan* outputs) override {
    outputs->x_hat = NewMatrix(response_.mutable_x_hat(), rows, model_.output_width);
  }
};

class GenerateJob final : public TypedJob<v1::GenerateRequest, v1::GenerateResponse> {
 public:
  using TypedJob::TypedJob;

  absl::Status View() {
    CVAE_RETURN_IF_ERROR(ViewCommon());
    pass = Pass::kDecode;
    CVAE_RETURN_IF_ERROR(ViewConditionAndRows());
    samples = std::max(1u, request_.samples_per_row());
    CVAE_RETURN_IF_ERROR(CheckRows(rows, samples, first_row, "samples_per_row", facts_));
    CVAE_RETURN_IF_ERROR(ViewNoise(Noise::kSeed));
    CVAE_RETURN_IF_ERROR(ViewTemperature());
    set_as_data(UsesData(request_.eps()) || ConditionUsesData(request_));
    return CheckAnswer(computed_rows() * (model_.output_width + (request_.return_z() ? model_.latent_width : 0)));
  }

 protected:
  void Allocate(RowSpan* outputs) override {
    outputs->x_hat = NewMatrix(response_.mutable_x_hat(), computed_rows(), model_.output_width);
    if (request_.return_z()) outputs->z = NewMatrix(response_.mutable_z(), computed_rows(), model_.latent_width);
  }

  void FillAnswer() override { AnswerSeed(); }

 private:
  absl::Status ViewConditionAndRows() {
    std::optional<ExpectedRows> expected;
    if (request_.rows() > 0) expected = ExpectedRows{request_.rows(), "request's rows"};
    rows = request_.rows();
    CVAE_ASSIGN_OR_RETURN(decode_condition, ViewCondition(request_, "", facts_, expected, &rows));
    if (rows > 0) return absl::OkStatus();
    return FieldError("rows", absl::StrCat("got 0, expected at least 1: model ", Quote(facts_.name),
                                           " has no condition that says how many"));
  }

  absl::Status ViewTemperature() {
    if (!request_.has_temperature()) return absl::OkStatus();
    if (noise != Noise::kSeed) return FieldError("temperature", "got it together with mean or eps, expected a drawn z");
    temperature = request_.temperature();
    if (std::isfinite(temperature) && temperature >= 0) return absl::OkStatus();
    return FieldError("temperature", absl::StrCat("got ", temperature, ", expected a finite number >= 0"));
  }
};

template <class JobType, class Request>
absl::StatusOr<std::unique_ptr<ComputeJob>> New(Request request, const ModelFacts& facts) {
  auto job = std::make_unique<JobType>(std::move(request), facts);
  CVAE_RETURN_IF_ERROR(job->View());
  return job;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::EncodeRequest request, const ModelFacts& facts) {
  return New<EncodeJob>(std::move(request), facts);
}
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::ReconstructRequest request, const ModelFacts& facts) {
  return New<ReconstructJob>(std::move(request), facts);
}
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::LossRequest request, const ModelFacts& facts) {
  return New<LossJob>(std::move(request), facts);
}
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::DecodeRequest request, const ModelFacts& facts) {
  return New<DecodeJob>(std::move(request), facts);
}
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::GenerateRequest request, const ModelFacts& facts) {
  return New<GenerateJob>(std::move(request), facts);
}

}  // namespace cvae
