// `cvae info`.

#ifndef CVAE_CLIENT_COMMAND_INFO_H_
#define CVAE_CLIENT_COMMAND_INFO_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/command/options.h"

namespace cvae {

// What to print: the model that --model names, or the only one; a line a model where there are several.
absl::StatusOr<std::string> RunInfo(const Client& client, const Options& options);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_INFO_H_
