// What was read from a file or typed on the command line, before it is fitted to what a model wants of it.

#ifndef CVAE_CLIENT_COMMAND_ARRAY_H_
#define CVAE_CLIENT_COMMAND_ARRAY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/tensor.h"
#include "cvae/v1/cvae.pb.h"

namespace cvae {

// Numbers (`tensor`) or words, one a row (`words`; then the tensor is unused).
struct Array {
  std::string origin;                 // for messages: "rows.npy", "--labels", "rows.csv, column \"digit\""
  std::shared_ptr<const void> owner;  // of the tensor's bytes; may be null
  Tensor tensor;
  bool is_words = false;
  std::vector<std::string> words;
  bool typed = false;  // on the command line: one element may stand for all rows
};

// An array over bytes that it takes.
Array MakeArray(std::string origin, DType dtype, std::vector<uint64_t> shape, std::string data);

// As a matrix of `width` columns: [B, width], [B, ...] whose other dimensions multiply to `width` (images), or [width]
// for one row. INVALID_ARGUMENT names the array, its shape and what was expected; or, unless `allow_non_finite`, its
// first NaN or infinity.
absl::StatusOr<v1::Matrix> ToMatrix(const Array& array, uint32_t width, bool allow_non_finite);

// As class ids, one a row: [B] or [B, 1] whole numbers, or words that are numbers or in `names`, the model's class
// names. A file's first word may be a header, and is skipped. INVALID_ARGUMENT otherwise, and lists the names.
absl::StatusOr<std::vector<uint32_t>> ToIds(const Array& array, const std::vector<std::string>& names);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_ARRAY_H_
