// The smaller parts of the description, one reader each; for model.cc.

#ifndef CVAE_KERNELS_MODEL_PARTS_H_
#define CVAE_KERNELS_MODEL_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/model/description.h"
#include "kernels/model/model.h"
#include "kernels/model/weights.h"

namespace cvae {

// "condition": the parts in order, each of classes or of plain columns, together at most kMaxWidth columns.
absl::StatusOr<std::vector<ConditionPart>> ReadCondition(const Node& node);

// "loss" (null: all defaults), for a decoder with these layers: bce takes logits or probabilities, as its output says.
absl::StatusOr<LossSpec> ReadLoss(const Node* node, const Layers& decoder);

// "probe": its tolerances, and its rows from the tensors cvae.probe.*, with the widths of `model`, which must be set.
absl::StatusOr<Probe> ReadProbe(const Node& node, const Model& model, Weights& weights);

// The description that says what a file without one must be: the reference state_dict, its dims read off the shapes.
// INVALID_ARGUMENT, with the names found and missing, if it is another.
absl::StatusOr<std::string> DescribeReference(const Safetensors& file);

}  // namespace cvae

#endif  // CVAE_KERNELS_MODEL_PARTS_H_
