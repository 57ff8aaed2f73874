#include "client/command/write_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

absl::Status Error(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot be written"));
}

// Writes them all and closes `file`.
absl::Status WriteAndClose(const std::string& path, int file, absl::string_view bytes) {
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(written);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(file) != 0 && error == 0) error = errno;  // where a network's file system says that it is full
  return error == 0 ? absl::OkStatus() : Error(path, error);
}

// What `path` stands for, through symbolic links; itself if it does not exist yet.
std::string Resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> resolved(realpath(path.c_str(), nullptr), &free);
  return resolved ? resolved.get() : path;
}

}  // namespace

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  const std::string target = Resolve(path);
  struct stat existing;
  const bool exists = stat(target.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) return Error(path, EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) {
    const int file = open(target.c_str(), O_WRONLY | O_CLOEXEC);
    return file < 0 ? Error(path, errno) : WriteAndClose(path, file, bytes);
  }
  std::string temporary = target + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return Error(path, errno);
  const mode_t mask = umask(0);
  umask(mask);
  absl::Status status =
      fchmod(file, exists ? existing.st_mode & 07777 : 0666 & ~mask) == 0 ? absl::OkStatus() : Error(path, errno);
  const absl::Status written = WriteAndClose(path, file, bytes);
  status.Update(written);
  if (status.ok() && rename(temporary.c_str(), target.c_str()) != 0) status = Error(path, errno);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

absl::Status CheckWritable(const std::string& path) {
  const std::string target = Resolve(path);
  struct stat existing;
  const bool exists = stat(target.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) return Error(path, EISDIR);
  // A file is replaced in its folder, anything else is written to.
  const std::string folder = std::filesystem::path(target).parent_path().string();
  const std::string written = exists && !S_ISREG(existing.st_mode) ? target : folder.empty() ? "." : folder;
  return access(written.c_str(), W_OK) == 0 ? absl::OkStatus() : Error(path, errno);
}

}  // namespace cvae
