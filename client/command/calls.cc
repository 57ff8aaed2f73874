#include "client/command/calls.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "client/command/condition.h"
#include "client/command/failure.h"
#include "client/request_rows.h"

namespace cvae {
namespace {

// Builds one request from what was typed and read.
class Builder {
 public:
  Builder(const v1::GetModelResponse& model, const Options& options, const Inputs& inputs)
      : model_(model), options_(options), inputs_(inputs) {}

  absl::StatusOr<v1::EncodeRequest> Encode() { return WithX<v1::EncodeRequest>(); }

  absl::StatusOr<v1::ReconstructRequest> Reconstruct() {
    CVAE_ASSIGN_OR_RETURN(auto request, WithX<v1::ReconstructRequest>());
    CVAE_RETURN_IF_ERROR(SetNoise(request));
    if (!inputs_.decode_condition.empty()) {
      CVAE_ASSIGN_OR_RETURN(*request.mutable_decode_condition(),
                            FitCondition(inputs_.decode_condition, model_, rows_, NonFinite()));
      CVAE_RETURN_IF_ERROR(rows::Check("decode condition's ", request.decode_condition(), rows_));
    }
    request.set_return_z(options_.return_z);
    request.set_return_loss(options_.loss);
    CVAE_RETURN_IF_ERROR(SetLoss(request));
    return request;
  }

  absl::StatusOr<v1::LossRequest> Loss() {
    CVAE_ASSIGN_OR_RETURN(auto request, WithX<v1::LossRequest>());
    CVAE_RETURN_IF_ERROR(SetNoise(request));
    request.set_num_samples(options_.samples);
    CVAE_RETURN_IF_ERROR(SetLoss(request));
    return request;
  }

  absl::StatusOr<v1::DecodeRequest> Decode() {
    CVAE_ASSIGN_OR_RETURN(v1::Matrix z, Rows(model_.latent_dim()));
    CVAE_ASSIGN_OR_RETURN(auto request, Common<v1::DecodeRequest>(z.rows()));
    *request.mutable_z() = std::move(z);
    return request;
  }

  absl::StatusOr<v1::GenerateRequest> Generate() {
    CVAE_ASSIGN_OR_RETURN(auto request, Common<v1::GenerateRequest>(options_.rows));
    if (model_.label_dim() == 0 && options_.rows == 0) {
      return absl::InvalidArgumentError("how many rows? --rows N, as the model takes no condition");
    }
    CVAE_RETURN_IF_ERROR(SetNoise(request));
    request.set_rows(options_.rows);
    request.set_samples_per_row(options_.samples);
    request.set_return_z(options_.return_z);
    if (options_.temperature.has_value()) request.set_temperature(*options_.temperature);
    return request;
  }

 private:
  bool NonFinite() const { return options_.allow_non_finite; }

  // What every request has, with a condition of `rows` rows (0: as many as it says).
  template <typename Request>
  absl::StatusOr<Request> Common(uint64_t rows) {
    Request request;
    request.set_model(model_.name());
    request.set_first_row(options_.first_row);
    request.set_finite(NonFinite() ? v1::Matrix::PROPAGATE : v1::Matrix::REJECT);
    if (model_.label_dim() > 0 && inputs_.condition.empty()) {
      return absl::InvalidArgumentError("under which condition? --labels, --y or --part");
    }
    CVAE_ASSIGN_OR_RETURN(v1::Condition condition, FitCondition(inputs_.condition, model_, rows, NonFinite()));
    rows_ = rows;
    if (rows_ == 0) {
      CVAE_ASSIGN_OR_RETURN(rows_, rows::Count(condition, model_));
    }
    if (rows_ > 0) CVAE_RETURN_IF_ERROR(rows::Check("", condition, rows_));
    if (options_.first_row > std::numeric_limits<uint64_t>::max() - rows_) {
      return absl::InvalidArgumentError(
          absl::StrCat("--first-row: got ", options_.first_row, ", with ", rows_, " rows it exceeds 2^64 - 1"));
    }
    rows::MoveCondition(condition, request);
    return request;
  }

  template <typename Request>
  absl::StatusOr<Request> WithX() {
    if (model_.input_dim() == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("model ", Quote(model_.name()), " has no encoder: it decodes and generates only"));
    }
    CVAE_ASSIGN_OR_RETURN(v1::Matrix x, Rows(model_.input_dim()));
    CVAE_ASSIGN_OR_RETURN(auto request, Common<Request>(x.rows()));
    *request.mutable_x() = std::move(x);
    return request;
  }

  absl::StatusOr<v1::Matrix> Rows(uint32_t width) const {
    auto matrix = ToMatrix(*inputs_.rows, width, NonFinite());
    if (matrix.ok() || !inputs_.labels_hint) return matrix;
    return absl::InvalidArgumentError(
        absl::StrCat(matrix.status().message(), " (is a column of it the label? --labels @label)"));
  }

  template <typename Request>
  absl::Status SetNoise(Request& request) const {
    if (options_.seed.has_value()) request.set_seed(*options_.seed);
    if (options_.mean) request.mutable_mean();
    if (!inputs_.eps.has_value()) return absl::OkStatus();
    CVAE_ASSIGN_OR_RETURN(*request.mutable_eps(), ToMatrix(*inputs_.eps, model_.latent_dim(), NonFinite()));
    return rows::Check("eps", request.eps(), rows_ * std::max(1u, options_.samples));
  }

  template <typename Request>
  absl::Status SetLoss(Request& request) const {
    request.set_per_row(options_.per_row);
    request.set_per_column(options_.per_column);
    request.set_per_latent(options_.per_latent);
    if (!inputs_.target.has_value()) return absl::OkStatus();
    CVAE_ASSIGN_OR_RETURN(*request.mutable_target(), ToMatrix(*inputs_.target, model_.output_dim(), NonFinite()));
    return rows::Check("target", request.target(), rows_);
  }

  const v1::GetModelResponse& model_;
  const Options& options_;
  const Inputs& inputs_;
  uint64_t rows_ = 0;  // of the request; set by Common
};

template <typename Request>
absl::StatusOr<Answer> Call(const Client& client, const v1::GetModelResponse& model, absl::StatusOr<Request> request,
                            const ChunkOptions& chunks) {
  if (!request.ok()) return Mistake(request.status());
  CVAE_ASSIGN_OR_RETURN(auto response, CallInChunks(client, model, *std::move(request), chunks));
  return MakeAnswer(std::move(response));
}

}  // namespace

absl::StatusOr<Answer> CallServer(const Client& client, const v1::GetModelResponse& model, const Options& options,
                                  const Inputs& inputs, const ChunkOptions& chunks) {
  Builder builder(model, options, inputs);
  switch (options.command) {
    case Command::kEncode:
      return Call(client, model, builder.Encode(), chunks);
    case Command::kReconstruct:
      return Call(client, model, builder.Reconstruct(), chunks);
    case Command::kLoss:
      return Call(client, model, builder.Loss(), chunks);
    case Command::kDecode:
      return Call(client, model, builder.Decode(), chunks);
    case Command::kGenerate:
      return Call(client, model, builder.Generate(), chunks);
    case Command::kInfo:
      break;
  }
  return absl::InternalError("info sends no rows");
}

}  // namespace cvae
