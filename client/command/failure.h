// Why a command failed: the exit code and the one line that it says.

#ifndef CVAE_CLIENT_COMMAND_FAILURE_H_
#define CVAE_CLIENT_COMMAND_FAILURE_H_

#include <string>

#include "absl/status/status.h"
#include "client/command/options.h"

namespace cvae {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;   // the server or the network failed or refused, or the answer was not written
inline constexpr int kExitMistake = 2;  // the command line or an input is wrong

// The same error, marked as the caller's own mistake. OK stays OK.
absl::Status Mistake(absl::Status status);

// What the server answered: the caller's own mistake where the server says that the request is wrong, or names what it
// does not have (INVALID_ARGUMENT, NOT_FOUND).
absl::Status FromServer(absl::Status status);

// The exit code that goes with `status`.
int ExitCode(const absl::Status& status);

// The message for a shell's user, in one line: the server's own, or, where gRPC speaks, what it means.
std::string Explain(const absl::Status& status, const Options& options);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_FAILURE_H_
