#include "client/request_rows.h"

#include "absl/strings/str_cat.h"

namespace cvae::rows {
namespace {

absl::Status CheckLength(absl::string_view field, uint64_t length, uint64_t rows) {
  if (length == 0 || length == rows) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": got ", length, ", the request has ", rows, " rows"));
}

template <typename Repeated>
void SliceRepeated(const Repeated& in, uint64_t begin, uint64_t end, Repeated* out) {
  if (!in.empty()) out->Add(in.begin() + begin, in.begin() + end);
}

template <typename Strings>
uint64_t LongestName(const Strings& names) {
  uint64_t longest = 0;
  for (const std::string& name : names) longest = std::max<uint64_t>(longest, name.size());
  return longest;
}

constexpr uint64_t kIdBytes = 5;  // of a uint32 as a varint, at the most

}  // namespace

absl::Status Check(absl::string_view field, const v1::Matrix& matrix, uint64_t rows) {
  const uint64_t size = MatrixSize(matrix);
  if (matrix.rows() != 0 && matrix.rows() != rows) {
    return absl::InvalidArgumentError(absl::StrCat(field, ".rows: got ", matrix.rows(), ", expected ", rows));
  }
  if (size == 0 || size % rows != 0 || (matrix.cols() != 0 && matrix.cols() != size / rows) ||
      (matrix.values_size() == 0 && matrix.data().size() % sizeof(float) != 0)) {
    const std::string shape =
        matrix.cols() == 0 ? absl::StrCat(rows, " rows") : absl::StrCat(rows, " rows of ", matrix.cols());
    return absl::InvalidArgumentError(absl::StrCat(field, ": got ", size, " numbers for ", shape));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Count(absl::string_view field, const v1::Matrix& matrix, uint32_t width) {
  const uint64_t size = MatrixSize(matrix);
  const uint32_t cols = matrix.cols() == 0 ? width : matrix.cols();
  const uint64_t rows = matrix.rows() != 0 ? matrix.rows() : cols == 0 ? 0 : size / cols;
  if (rows == 0) return absl::InvalidArgumentError(absl::StrCat(field, ": got no rows"));
  CVAE_RETURN_IF_ERROR(Check(field, matrix, rows));
  return rows;
}

v1::Matrix Slice(const v1::Matrix& matrix, uint64_t rows, uint64_t begin, uint64_t end) {
  const uint64_t cols = MatrixSize(matrix) / rows;
  v1::Matrix slice;
  slice.set_rows(static_cast<uint32_t>(end - begin));
  slice.set_cols(static_cast<uint32_t>(cols));
  SliceRepeated(matrix.values(), matrix.values_size() > 0 ? begin * cols : 0, matrix.values_size() > 0 ? end * cols : 0,
                slice.mutable_values());
  if (matrix.values_size() == 0) {
    const uint64_t row_bytes = cols * sizeof(float);
    slice.set_data(matrix.data().data() + begin * row_bytes, (end - begin) * row_bytes);
  }
  return slice;
}

uint64_t RowBytes(const v1::Matrix& matrix, uint64_t rows) {
  return (MatrixSize(matrix) + rows - 1) / rows * sizeof(float);
}

absl::Status Check(absl::string_view prefix, const v1::Condition& condition, uint64_t rows) {
  CVAE_RETURN_IF_ERROR(CheckLength(absl::StrCat(prefix, "labels"), condition.labels_size(), rows));
  if (condition.has_y()) CVAE_RETURN_IF_ERROR(Check(absl::StrCat(prefix, "y"), condition.y(), rows));
  for (const auto& [name, part] : condition.parts()) {
    const std::string field = absl::StrCat(prefix, "parts[\"", name, "\"]");
    CVAE_RETURN_IF_ERROR(CheckLength(field + ".ids", part.ids_size(), rows));
    CVAE_RETURN_IF_ERROR(CheckLength(field + ".names", part.names_size(), rows));
    if (part.has_values()) CVAE_RETURN_IF_ERROR(Check(field + ".values", part.values(), rows));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Count(const v1::Condition& condition, const v1::GetModelResponse& model) {
  if (condition.labels_size() > 0) return condition.labels_size();
  if (condition.has_y()) return Count("y", condition.y(), model.label_dim());
  for (const auto& [name, part] : condition.parts()) {
    if (part.ids_size() > 0) return part.ids_size();
    if (part.names_size() > 0) return part.names_size();
    if (!part.has_values()) continue;
    uint32_t width = 0;
    for (const auto& known : model.condition()) {
      if (known.name() == name) width = known.width();
    }
    return Count(absl::StrCat("parts[\"", name, "\"].values"), part.values(), width);
  }
  return 0;
}

v1::Condition Slice(const v1::Condition& condition, uint64_t rows, uint64_t begin, uint64_t end) {
  v1::Condition slice;
  SliceRepeated(condition.labels(), begin, end, slice.mutable_labels());
  if (condition.has_y()) *slice.mutable_y() = Slice(condition.y(), rows, begin, end);
  for (const auto& [name, part] : condition.parts()) {
    v1::Part& out = (*slice.mutable_parts())[name];
    SliceRepeated(part.ids(), begin, end, out.mutable_ids());
    SliceRepeated(part.names(), begin, end, out.mutable_names());
    if (part.has_values()) *out.mutable_values() = Slice(part.values(), rows, begin, end);
  }
  return slice;
}

uint64_t RowBytes(const v1::Condition& condition, uint64_t rows) {
  uint64_t bytes = condition.labels_size() > 0 ? kIdBytes : 0;
  bytes += RowBytes(condition.y(), rows);
  for (const auto& [name, part] : condition.parts()) {
    if (part.ids_size() > 0) bytes += kIdBytes;
    if (part.names_size() > 0) bytes += LongestName(part.names()) + kIdBytes + 1;
    bytes += RowBytes(part.values(), rows);
  }
  return bytes;
}

}  // namespace cvae::rows
