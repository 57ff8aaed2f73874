// v1::Matrix to and from floats.

#ifndef CVAE_CLIENT_MATRIX_H_
#define CVAE_CLIENT_MATRIX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cvae/v1/cvae.pb.h"

namespace cvae {

// A matrix of `rows` x `cols` `values`, row-major, encoded as data. REQUIRES values.size() == rows * cols.
v1::Matrix MakeMatrix(uint32_t rows, uint32_t cols, absl::Span<const float> values);

// Its numbers, however they are encoded, row-major.
std::vector<float> MatrixValues(const v1::Matrix& matrix);

// How many numbers it holds, whatever its rows and cols say.
uint64_t MatrixSize(const v1::Matrix& matrix);

}  // namespace cvae

#endif  // CVAE_CLIENT_MATRIX_H_
