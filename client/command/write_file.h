// Files written whole or not at all.

#ifndef CVAE_CLIENT_COMMAND_WRITE_FILE_H_
#define CVAE_CLIENT_COMMAND_WRITE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cvae {

// Replaces the file at `path` by one with these bytes, or leaves all as it was: they go to a new file beside it, which
// then takes its name. A path that is a device or a pipe is written to. The error's message begins with the path.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

// Why WriteFile would fail, as far as that can be told beforehand: no such folder, or one that cannot be written to.
// For who has much to do before there is something to write.
absl::Status CheckWritable(const std::string& path);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_WRITE_FILE_H_
