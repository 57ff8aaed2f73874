// A condition fitted to a model.

#ifndef CVAE_CLIENT_COMMAND_CONDITION_H_
#define CVAE_CLIENT_COMMAND_CONDITION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/command/inputs.h"
#include "cvae/v1/cvae.pb.h"

namespace cvae {

// What `inputs` say, as the model takes it: class names become ids. A typed list of one element is repeated for all
// `rows` (0: as many as it says). One that the --in file has by chance is left out where the model takes none.
// INVALID_ARGUMENT: the model has no condition, has several parts, or not this one; a class it does not know; a width.
absl::StatusOr<v1::Condition> FitCondition(const ConditionInputs& inputs, const v1::GetModelResponse& model,
                                           uint64_t rows, bool allow_non_finite);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_CONDITION_H_
