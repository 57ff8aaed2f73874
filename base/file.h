// Reading whole files.

#ifndef CVAE_BASE_FILE_H_
#define CVAE_BASE_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace cvae {

// The bytes of the regular file at `path`. Each error's message begins with the path: NOT_FOUND, PERMISSION_DENIED,
// INVALID_ARGUMENT (a directory, a pipe or a device), RESOURCE_EXHAUSTED (it does not fit into memory), ABORTED (it
// became shorter while it was read), or what the system's own error maps to.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace cvae

#endif  // CVAE_BASE_FILE_H_
