#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <stdexcept>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cvae {
namespace {

absl::Status Allocate(const std::string& path, uint64_t size, std::string& bytes) {
  try {
    bytes.resize(size);
    return absl::OkStatus();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return absl::ResourceExhaustedError(absl::StrCat(path, ": its ", size, " bytes do not fit into memory"));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  const absl::Cleanup close_fd = [fd] { close(fd); };

  struct stat info;
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, path);
  if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is a directory, expected a file"));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));

  std::string bytes;
  if (absl::Status status = Allocate(path, info.st_size, bytes); !status.ok()) return status;
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = read(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, path);
    if (count == 0) return absl::AbortedError(absl::StrCat(path, ": became shorter while it was read"));
    done += count;
  }
  return bytes;
}

}  // namespace cvae
