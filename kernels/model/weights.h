// The tensors of a model file as weights: checked, widened, and each used once.

#ifndef CVAE_KERNELS_MODEL_WEIGHTS_H_
#define CVAE_KERNELS_MODEL_WEIGHTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/safetensors.h"
#include "kernels/model/model.h"

namespace cvae {

class Weights {
 public:
  // `file` must outlive it.
  explicit Weights(const Safetensors& file) : file_(file) {}

  // The rows and columns of a Linear's weight, before it is read: what it makes and takes. INVALID_ARGUMENT if
  // NAME.weight is missing or no matrix of sane size.
  struct Dims {
    int out = 0;
    int in = 0;
  };
  absl::StatusOr<Dims> LinearDims(const std::string& name, const std::string& place) const;

  // NAME.weight [any, in] and NAME.bias, for `place` of the description, which messages begin with.
  absl::StatusOr<Linear> ReadLinear(const std::string& name, const std::string& place, int in);

  // The first dimension of the tensor `name`; INVALID_ARGUMENT if it is missing or a scalar.
  absl::StatusOr<uint64_t> Rows(const std::string& name, const std::string& place) const;

  // The tensor `name`, of F32, F16 or BF16, exactly `shape`, every element finite. A tensor is read once: used by two
  // places it is refused, as sharing would be lost in the copies.
  absl::StatusOr<std::vector<float>> Read(const std::string& name, const std::string& place,
                                          const std::vector<uint64_t>& shape);

  // INVALID_ARGUMENT, naming them, if tensors are left that nobody has read.
  absl::Status CheckAllUsed() const;

 private:
  absl::StatusOr<const Tensor*> Find(const std::string& name, const std::string& place) const;

  const Safetensors& file_;
  std::map<std::string, std::string> users_;  // of each tensor that was read: the place
};

}  // namespace cvae

#endif  // CVAE_KERNELS_MODEL_WEIGHTS_H_
