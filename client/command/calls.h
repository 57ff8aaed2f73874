// The commands that send rows.

#ifndef CVAE_CLIENT_COMMAND_CALLS_H_
#define CVAE_CLIENT_COMMAND_CALLS_H_

#include "absl/status/statusor.h"
#include "client/chunks.h"
#include "client/client.h"
#include "client/command/answer.h"
#include "client/command/inputs.h"
#include "client/command/options.h"

namespace cvae {

// Fits the inputs to the model and calls. Inputs that do not fit are marked as the caller's mistake (failure.h).
absl::StatusOr<Answer> CallServer(const Client& client, const v1::GetModelResponse& model, const Options& options,
                                  const Inputs& inputs, const ChunkOptions& chunks);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_CALLS_H_
