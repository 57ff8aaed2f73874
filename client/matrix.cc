#include "client/matrix.h"

#include <bit>
#include <cstring>

namespace cvae {

static_assert(std::endian::native == std::endian::little, "Matrix.data is copied as it is");

v1::Matrix MakeMatrix(uint32_t rows, uint32_t cols, absl::Span<const float> values) {
  v1::Matrix matrix;
  matrix.set_rows(rows);
  matrix.set_cols(cols);
  matrix.set_data(values.data(), values.size() * sizeof(float));
  return matrix;
}

std::vector<float> MatrixValues(const v1::Matrix& matrix) {
  if (matrix.values_size() > 0) return {matrix.values().begin(), matrix.values().end()};
  std::vector<float> values(matrix.data().size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), matrix.data().data(), values.size() * sizeof(float));
  return values;
}

uint64_t MatrixSize(const v1::Matrix& matrix) {
  return matrix.values_size() > 0 ? matrix.values_size() : matrix.data().size() / sizeof(float);
}

}  // namespace cvae
