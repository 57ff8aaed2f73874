#include "client/command/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

absl::Status Error(const Array& array, const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(array.origin, ": ", text));
}

// A class id, also as other programs write one: "7.0".
std::optional<uint32_t> ParseId(const std::string& word) {
  uint32_t id = 0;
  if (absl::SimpleAtoi(word, &id)) return id;
  double number = -1;
  if (!absl::SimpleAtod(word, &number) || !(number >= 0 && number <= std::numeric_limits<uint32_t>::max()) ||
      number != std::floor(number)) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(number);
}

std::optional<uint32_t> FindName(const std::string& word, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<uint32_t>(found - names.begin());
}

absl::Status UnknownClass(const Array& array, size_t row, const std::vector<std::string>& names) {
  constexpr size_t kListed = 20;
  const std::string which = absl::StrCat("row ", row, " is ", Quote(array.words[row]));
  if (names.empty()) return Error(array, absl::StrCat(which, ", expected a class id (a whole number)"));
  const auto last = names.begin() + std::min(kListed, names.size());
  const std::string more = names.size() > kListed ? absl::StrCat(" and ", names.size() - kListed, " more") : "";
  return Error(array,
               absl::StrCat(which, ", no class of the model; it has ", absl::StrJoin(names.begin(), last, ", "), more));
}

absl::StatusOr<Array> WordsToNumbers(const Array& array) {
  std::string data;
  for (const std::string& word : array.words) {
    float value = 0;
    if (!absl::SimpleAtof(word, &value)) return Error(array, absl::StrCat(Quote(word), " is not a number"));
    data.append(reinterpret_cast<const char*>(&value), sizeof(float));
  }
  return MakeArray(array.origin, DType::kF32, {array.words.size()}, std::move(data));
}

absl::StatusOr<std::vector<uint32_t>> NumbersToIds(const Array& array) {
  const Tensor& tensor = array.tensor;
  if (tensor.shape.size() != 1 && !(tensor.shape.size() == 2 && tensor.shape[1] == 1)) {
    return Error(array, absl::StrCat("got ", ToString(tensor), ", expected class ids, one a row: [B]"));
  }
  const auto integers = ToIntegers(tensor);
  if (!integers.ok()) return Error(array, std::string(integers.status().message()));
  std::vector<uint32_t> ids;
  ids.reserve(integers->size());
  for (size_t row = 0; row < integers->size(); ++row) {
    const int64_t id = (*integers)[row];
    if (id < 0 || id > std::numeric_limits<uint32_t>::max()) {
      return Error(array, absl::StrCat("row ", row, " is ", id, ", expected a class id (0 or more)"));
    }
    ids.push_back(static_cast<uint32_t>(id));
  }
  return ids;
}

absl::Status CheckFinite(const Array& array, const std::string& data, uint64_t cols) {
  for (size_t i = 0; i < data.size() / sizeof(float); ++i) {
    float value;
    std::memcpy(&value, data.data() + i * sizeof(float), sizeof(float));
    if (std::isfinite(value)) continue;
    return Error(array, absl::StrCat("row ", i / cols, ", column ", i % cols, " is ", value,
                                     "; --allow-non-finite sends it all the same"));
  }
  return absl::OkStatus();
}

}  // namespace

Array MakeArray(std::string origin, DType dtype, std::vector<uint64_t> shape, std::string data) {
  Array array;
  auto owner = std::make_shared<const std::string>(std::move(data));
  array.origin = std::move(origin);
  array.tensor = {dtype, std::move(shape), *owner};
  array.owner = std::move(owner);
  return array;
}

absl::StatusOr<v1::Matrix> ToMatrix(const Array& array, uint32_t width, bool allow_non_finite) {
  if (array.is_words) {
    CVAE_ASSIGN_OR_RETURN(const Array numbers, WordsToNumbers(array));
    return ToMatrix(numbers, width, allow_non_finite);
  }
  const Tensor& tensor = array.tensor;
  const bool one_row = tensor.shape.size() == 1 && tensor.shape[0] == width;
  const uint64_t rows = one_row ? 1 : tensor.shape.empty() ? 0 : tensor.shape[0];
  const uint64_t size = tensor.size();
  if (tensor.shape.empty() || size == 0 || size != rows * width || rows > std::numeric_limits<uint32_t>::max()) {
    return Error(array, absl::StrCat("got ", ToString(tensor), ", expected rows of ", width, ": [B, ", width, "]"));
  }
  v1::Matrix matrix;
  matrix.set_rows(static_cast<uint32_t>(rows));
  matrix.set_cols(width);
  if (tensor.dtype == DType::kF32) {
    matrix.set_data(tensor.data.data(), tensor.data.size());
  } else {
    const std::vector<float> values = ToFloats(tensor);
    matrix.set_data(values.data(), values.size() * sizeof(float));
  }
  if (!allow_non_finite) CVAE_RETURN_IF_ERROR(CheckFinite(array, matrix.data(), width));
  return matrix;
}

absl::StatusOr<std::vector<uint32_t>> ToIds(const Array& array, const std::vector<std::string>& names) {
  if (!array.is_words) return NumbersToIds(array);
  std::vector<uint32_t> ids;
  ids.reserve(array.words.size());
  for (size_t row = 0; row < array.words.size(); ++row) {
    std::optional<uint32_t> id = FindName(array.words[row], names);
    if (!id.has_value()) id = ParseId(array.words[row]);
    if (id.has_value()) {
      ids.push_back(*id);
    } else if (row > 0 || array.typed || array.words.size() == 1) {
      return UnknownClass(array, row, names);
    }  // else: a file's header
  }
  return ids;
}

}  // namespace cvae
