#include "kernels/model/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "kernels/model/description.h"

namespace cvae {
namespace {

template <typename... Text>
absl::Status Error(const std::string& place, const std::string& name, const Text&... text) {
  return absl::InvalidArgumentError(absl::StrCat(place, ": tensor ", Quote(name), ": ", text...));
}

// Where in the tensor: "[3, 17]".
std::string Index(const Tensor& tensor, uint64_t i) {
  std::vector<uint64_t> index(tensor.shape.size());
  for (size_t d = index.size(); d-- > 0; i /= tensor.shape[d]) index[d] = i % tensor.shape[d];
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

}  // namespace

absl::StatusOr<const Tensor*> Weights::Find(const std::string& name, const std::string& place) const {
  const Tensor* tensor = file_.Find(name);
  if (tensor == nullptr) return Error(place, name, "is missing from the file");
  if (tensor->dtype != DType::kF32 && tensor->dtype != DType::kF16 && tensor->dtype != DType::kBF16) {
    return Error(place, name, "got ", ToString(*tensor), ", expected F32, F16 or BF16");
  }
  return tensor;
}

absl::StatusOr<Weights::Dims> Weights::LinearDims(const std::string& name, const std::string& place) const {
  const std::string weight = name + ".weight";
  CVAE_ASSIGN_OR_RETURN(const Tensor* tensor, Find(weight, place));
  const auto& shape = tensor->shape;
  if (shape.size() != 2) return Error(place, weight, "got ", ToString(*tensor), ", expected two dimensions, [out, in]");
  if (shape[0] < 1 || shape[0] > kMaxWidth || shape[1] < 1 || shape[1] > 2 * kMaxWidth) {
    return Error(place, weight, "got ", ToString(*tensor), ", expected 1 to ", kMaxWidth, " rows and 1 to ",
                 2 * kMaxWidth, " columns");
  }
  if (tensor->size() > std::numeric_limits<int>::max()) {
    return Error(place, weight, "got ", ToString(*tensor), ", expected fewer than 2^31 elements");
  }
  return Dims{static_cast<int>(shape[0]), static_cast<int>(shape[1])};
}

absl::StatusOr<Linear> Weights::ReadLinear(const std::string& name, const std::string& place, int in) {
  CVAE_ASSIGN_OR_RETURN(const Dims dims, LinearDims(name, place));
  Linear linear{name, in, dims.out, {}, {}};
  const uint64_t rows = linear.out, cols = linear.in;
  CVAE_ASSIGN_OR_RETURN(linear.weight, Read(name + ".weight", place, {rows, cols}));
  CVAE_ASSIGN_OR_RETURN(linear.bias, Read(name + ".bias", place, {rows}));
  return linear;
}

absl::StatusOr<uint64_t> Weights::Rows(const std::string& name, const std::string& place) const {
  CVAE_ASSIGN_OR_RETURN(const Tensor* tensor, Find(name, place));
  if (!tensor->shape.empty()) return tensor->shape[0];
  return Error(place, name, "got ", ToString(*tensor), ", expected rows");
}

absl::StatusOr<std::vector<float>> Weights::Read(const std::string& name, const std::string& place,
                                                 const std::vector<uint64_t>& shape) {
  CVAE_ASSIGN_OR_RETURN(const Tensor* tensor, Find(name, place));
  if (tensor->shape != shape) {
    return Error(place, name, "got ", ToString(*tensor), ", expected [", absl::StrJoin(shape, ", "), "]");
  }
  const auto [user, fresh] = users_.emplace(name, place);
  if (!fresh) return Error(place, name, "is used by ", user->second, " already; give each place its own copy");
  std::vector<float> floats = ToFloats(*tensor);
  const auto bad = std::find_if(floats.begin(), floats.end(), [](float value) { return !std::isfinite(value); });
  if (bad == floats.end()) return floats;
  return Error(place, name, Index(*tensor, bad - floats.begin()), " is ", *bad, ", expected finite values");
}

absl::Status Weights::CheckAllUsed() const {
  constexpr int kShown = 5;
  std::vector<std::string> unused;
  size_t count = 0;
  for (const auto& [name, tensor] : file_.tensors()) {
    if (!users_.contains(name) && ++count <= kShown) unused.push_back(Quote(name));
  }
  if (count == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(count == 1 ? "tensor " : "tensors ", absl::StrJoin(unused, ", "),
                                                 count > kShown ? absl::StrCat(" and ", count - kShown, " more") : "",
                                                 ": used by nothing in the description"));
}

}  // namespace cvae
