// The rows of a request: how many there are, what one costs, and a request for some of them. Inside client/ only.
//
// Every request has row fields (x, z, labels, y, parts, eps, target, decode_condition), of B or B * S rows, and a rest
// that each piece repeats.

#ifndef CVAE_CLIENT_REQUEST_ROWS_H_
#define CVAE_CLIENT_REQUEST_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "client/matrix.h"
#include "cvae/v1/cvae.pb.h"

namespace cvae::rows {

// OK if `matrix` holds `rows` rows, as far as it says. The message names `field`.
absl::Status Check(absl::string_view field, const v1::Matrix& matrix, uint64_t rows);
// Rows of a matrix that is `width` columns wide unless it says otherwise.
absl::StatusOr<uint64_t> Count(absl::string_view field, const v1::Matrix& matrix, uint32_t width);
// Rows [begin, end) of a matrix of `rows` rows.
v1::Matrix Slice(const v1::Matrix& matrix, uint64_t rows, uint64_t begin, uint64_t end);
// Bytes of a row on the wire, at the most.
uint64_t RowBytes(const v1::Matrix& matrix, uint64_t rows);

// The same of a condition, as a Condition message. A model's name for each field is `prefix` + its own.
absl::Status Check(absl::string_view prefix, const v1::Condition& condition, uint64_t rows);
// None of its fields is set: 0.
absl::StatusOr<uint64_t> Count(const v1::Condition& condition, const v1::GetModelResponse& model);
v1::Condition Slice(const v1::Condition& condition, uint64_t rows, uint64_t begin, uint64_t end);
uint64_t RowBytes(const v1::Condition& condition, uint64_t rows);

// Moves the condition's three fields of a message that has them to another.
template <typename From, typename To>
void MoveCondition(From& from, To& to) {
  to.mutable_labels()->Swap(from.mutable_labels());
  if (from.has_y()) to.mutable_y()->Swap(from.mutable_y());
  from.clear_y();
  to.mutable_parts()->swap(*from.mutable_parts());
}

// Samples a row, S.
template <typename Request>
uint64_t Samples(const Request& request) {
  if constexpr (requires { request.num_samples(); }) return std::max(1u, request.num_samples());
  if constexpr (requires { request.samples_per_row(); }) return std::max(1u, request.samples_per_row());
  return 1;
}

// A request taken apart into its row fields and its rest. No number is copied until Slice.
template <typename Request>
class RowRequest {
 public:
  // INVALID_ARGUMENT: its fields disagree about the number of rows, or it has none.
  static absl::StatusOr<RowRequest> Make(Request request, const v1::GetModelResponse& model) {
    RowRequest result(std::move(request));
    CVAE_ASSIGN_OR_RETURN(result.rows_, result.CountRows(model));
    if (result.rows_ == 0) return absl::InvalidArgumentError("the request has no rows");
    CVAE_RETURN_IF_ERROR(result.CheckRows());
    return result;
  }

  uint64_t rows() const { return rows_; }

  // What all pieces have in common, without row fields. What is set here is set in each piece.
  Request& rest() { return rest_; }
  const Request& rest() const { return rest_; }
  bool has_eps() const {
    if constexpr (requires(Request r) { r.eps(); }) return fields_.has_eps();
    return false;
  }

  // Bytes of one more row in a request, at the most; and of all else in it.
  uint64_t RequestRowBytes() const;
  uint64_t RequestFixedBytes() const { return rest_.ByteSizeLong() + parts_bytes_ + 512; }

  // A request for rows [begin, end): the same bits as those rows of the whole.
  Request Slice(uint64_t begin, uint64_t end) const;

 private:
  explicit RowRequest(Request request);
  absl::StatusOr<uint64_t> CountRows(const v1::GetModelResponse& model) const;
  absl::Status CheckRows() const;

  Request rest_;
  Request fields_;  // x, z, target, eps, decode_condition, rows
  v1::Condition condition_;
  uint64_t rows_ = 0;
  uint64_t parts_bytes_ = 0;  // names of parts
};

template <typename Request>
RowRequest<Request>::RowRequest(Request request) : rest_(std::move(request)) {
  MoveCondition(rest_, condition_);
  for (const auto& [name, part] : condition_.parts()) parts_bytes_ += name.size() + 64;
  if constexpr (requires { rest_.x(); }) {
    if (rest_.has_x()) fields_.mutable_x()->Swap(rest_.mutable_x());
    rest_.clear_x();
  }
  if constexpr (requires { rest_.z(); }) {
    if (rest_.has_z()) fields_.mutable_z()->Swap(rest_.mutable_z());
    rest_.clear_z();
  }
  if constexpr (requires { rest_.target(); }) {
    if (rest_.has_target()) fields_.mutable_target()->Swap(rest_.mutable_target());
    rest_.clear_target();
  }
  if constexpr (requires { rest_.eps(); }) {
    if (rest_.has_eps()) {
      fields_.mutable_eps()->Swap(rest_.mutable_eps());
      rest_.clear_eps();
    }
  }
  if constexpr (requires { rest_.decode_condition(); }) {
    if (rest_.has_decode_condition()) fields_.mutable_decode_condition()->Swap(rest_.mutable_decode_condition());
    rest_.clear_decode_condition();
    for (const auto& [name, part] : fields_.decode_condition().parts()) parts_bytes_ += name.size() + 64;
  }
  if constexpr (requires { rest_.rows(); }) {
    fields_.set_rows(rest_.rows());
    rest_.clear_rows();
  }
}

template <typename Request>
absl::StatusOr<uint64_t> RowRequest<Request>::CountRows(const v1::GetModelResponse& model) const {
  if constexpr (requires { rest_.x(); }) return Count("x", fields_.x(), model.input_dim());
  if constexpr (requires { rest_.z(); }) return Count("z", fields_.z(), model.latent_dim());
  CVAE_ASSIGN_OR_RETURN(const uint64_t rows, Count(condition_, model));
  if constexpr (requires { rest_.rows(); }) return rows > 0 ? rows : fields_.rows();
  return rows;
}

template <typename Request>
absl::Status RowRequest<Request>::CheckRows() const {
  CVAE_RETURN_IF_ERROR(Check("", condition_, rows_));
  if constexpr (requires { rest_.target(); }) {
    if (fields_.has_target()) CVAE_RETURN_IF_ERROR(Check("target", fields_.target(), rows_));
  }
  if constexpr (requires { rest_.eps(); }) {
    if (fields_.has_eps()) CVAE_RETURN_IF_ERROR(Check("eps", fields_.eps(), rows_ * Samples(rest_)));
  }
  if constexpr (requires { rest_.decode_condition(); }) {
    CVAE_RETURN_IF_ERROR(Check("decode_condition.", fields_.decode_condition(), rows_));
  }
  if constexpr (requires { rest_.rows(); }) {
    if (fields_.rows() > 0 && fields_.rows() != rows_) {
      return absl::InvalidArgumentError("rows: got " + std::to_string(fields_.rows()) + ", the condition has " +
                                        std::to_string(rows_));
    }
  }
  if (rest_.first_row() + rows_ < rows_) {
    return absl::InvalidArgumentError("first_row: " + std::to_string(rest_.first_row()) + " + " +
                                      std::to_string(rows_) + " rows exceed 2^64 - 1");
  }
  return absl::OkStatus();
}

template <typename Request>
uint64_t RowRequest<Request>::RequestRowBytes() const {
  uint64_t bytes = RowBytes(condition_, rows_);
  if constexpr (requires { rest_.x(); }) bytes += RowBytes(fields_.x(), rows_);
  if constexpr (requires { rest_.z(); }) bytes += RowBytes(fields_.z(), rows_);
  if constexpr (requires { rest_.target(); }) bytes += RowBytes(fields_.target(), rows_);
  if constexpr (requires { rest_.eps(); }) bytes += RowBytes(fields_.eps(), rows_);
  if constexpr (requires { rest_.decode_condition(); }) bytes += RowBytes(fields_.decode_condition(), rows_);
  return bytes;
}

template <typename Request>
Request RowRequest<Request>::Slice(uint64_t begin, uint64_t end) const {
  Request piece = rest_;
  piece.set_first_row(rest_.first_row() + begin);
  v1::Condition condition = rows::Slice(condition_, rows_, begin, end);
  MoveCondition(condition, piece);
  if constexpr (requires { rest_.x(); }) *piece.mutable_x() = rows::Slice(fields_.x(), rows_, begin, end);
  if constexpr (requires { rest_.z(); }) *piece.mutable_z() = rows::Slice(fields_.z(), rows_, begin, end);
  if constexpr (requires { rest_.target(); }) {
    if (fields_.has_target()) *piece.mutable_target() = rows::Slice(fields_.target(), rows_, begin, end);
  }
  if constexpr (requires { rest_.eps(); }) {
    const uint64_t s = Samples(rest_);
    if (fields_.has_eps()) *piece.mutable_eps() = rows::Slice(fields_.eps(), rows_ * s, begin * s, end * s);
  }
  if constexpr (requires { rest_.decode_condition(); }) {
    if (fields_.has_decode_condition()) {
      *piece.mutable_decode_condition() = rows::Slice(fields_.decode_condition(), rows_, begin, end);
    }
  }
  if constexpr (requires { rest_.rows(); }) {
    if (fields_.rows() > 0) piece.set_rows(static_cast<uint32_t>(end - begin));
  }
  return piece;
}

}  // namespace cvae::rows

#endif  // CVAE_CLIENT_REQUEST_ROWS_H_
