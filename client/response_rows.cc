#include "client/response_rows.h"

namespace cvae::rows {

absl::Status Append(absl::string_view field, const v1::Matrix& part, uint64_t rows, uint64_t total, v1::Matrix* whole) {
  if (part.rows() != rows || MatrixSize(part) != rows * part.cols() ||
      (whole->rows() > 0 && whole->cols() != part.cols())) {
    return absl::InternalError(absl::StrCat("the answer's ", field, " is ", part.rows(), " x ", part.cols(), " with ",
                                            MatrixSize(part), " numbers, expected ", rows, " rows"));
  }
  if (whole->rows() == 0) {
    whole->set_cols(part.cols());
    if (part.values_size() == 0) whole->mutable_data()->reserve(total * part.cols() * sizeof(float));
  }
  whole->set_rows(whole->rows() + part.rows());
  whole->mutable_values()->MergeFrom(part.values());
  whole->mutable_data()->append(part.data());
  return absl::OkStatus();
}

}  // namespace cvae::rows
