// Layer lists of the description.

#ifndef CVAE_KERNELS_MODEL_OPERATIONS_H_
#define CVAE_KERNELS_MODEL_OPERATIONS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "kernels/model/description.h"
#include "kernels/model/model.h"
#include "kernels/model/weights.h"

namespace cvae {

// A list's operations, and how wide what they give is.
struct LayerList {
  Layers layers;
  int out = 0;
};

// Reads the list `node`, whose input is `in` wide, with its weights. INVALID_ARGUMENT names the operation's place.
absl::StatusOr<LayerList> ReadLayers(const Node& node, int in, Weights& weights);

// The width that the list `node` takes, from the first of its operations that has one of its own; nothing if none does.
absl::StatusOr<std::optional<int>> InputWidth(const Node& node, const Weights& weights);

}  // namespace cvae

#endif  // CVAE_KERNELS_MODEL_OPERATIONS_H_
