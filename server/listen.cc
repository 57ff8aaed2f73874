#include "server/listen.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/quote.h"
#include "server/errors.h"

namespace cvae {
namespace {

constexpr char kUnixPrefix[] = "unix:";

absl::Status BadAddress(const std::string& text, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("--listen: got ", Quote(text), ", ", what, "; expected HOST:PORT, [IPV6]:PORT or unix:PATH"));
}

std::pair<std::string, std::string> SplitHostPort(const std::string& text) {
  const size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return {host, text.substr(colon + 1)};
}

// What is at a Unix path: gRPC would unlink a socket, whoever listens on it, and cannot bind over anything else.
enum class AtPath { kNothing, kDeadSocket, kLiveSocket, kSomethingElse };

AtPath Look(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return AtPath::kNothing;
  if (!S_ISSOCK(info.st_mode)) return AtPath::kSomethingElse;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return AtPath::kLiveSocket;  // nobody can tell
  const absl::Cleanup close_fd = [fd] { close(fd); };
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const bool dead =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 && errno == ECONNREFUSED;
  return dead ? AtPath::kDeadSocket : AtPath::kLiveSocket;
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  if (absl::string_view path = text; absl::ConsumePrefix(&path, kUnixPrefix)) {
    if (path.empty()) return BadAddress(text, "which has no path");
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
      return BadAddress(text, absl::StrCat("whose path has ", path.size(), " bytes, at most ",
                                           sizeof(sockaddr_un::sun_path) - 1, " are possible"));
    }
    return ListenAddress{text, std::string(path)};
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return BadAddress(text, "which has no port");
  int port = -1;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return BadAddress(text, "whose port is not a number from 0 to 65535");
  }
  const std::string host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (host.empty()) return BadAddress(text, "which has no host (0.0.0.0 is every interface)");
  if (!bracketed && host.find(':') != std::string::npos) return BadAddress(text, "whose IPv6 address needs brackets");
  return ListenAddress{text, ""};
}

absl::StatusOr<std::unique_ptr<UnixPathClaim>> UnixPathClaim::Take(const std::string& path) {
  const std::string lock = path + ".lock";
  const int fd = open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return absl::InvalidArgumentError(absl::StrCat("--listen: cannot open ", lock, ": ", strerror(errno)));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(fd);
    if (error != EWOULDBLOCK)
      return absl::InternalError(absl::StrCat("--listen: cannot lock ", lock, ": ", strerror(error)));
    return absl::FailedPreconditionError(
        absl::StrCat("--listen: another server listens on unix:", path, " (it holds ", lock, ")"));
  }
  const AtPath at_path = Look(path);
  if (at_path == AtPath::kNothing || at_path == AtPath::kDeadSocket) {
    return std::unique_ptr<UnixPathClaim>(new UnixPathClaim(path, fd));
  }
  close(fd);
  return absl::FailedPreconditionError(absl::StrCat(
      "--listen: cannot listen on unix:", path,
      at_path == AtPath::kLiveSocket ? ": another program listens there" : ": there is something that is no socket"));
}

UnixPathClaim::~UnixPathClaim() {
  unlink(path_.c_str());  // nothing was there but a dead socket when it was claimed
  close(fd_);
}

std::string GrpcAddress(const ListenAddress& address) { return absl::StrReplaceAll(address.text, {{"%", "%25"}}); }

std::string WhyNotBindable(const ListenAddress& address) {
  const auto [host, port] = SplitHostPort(address.text);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) return gai_strerror(error);
  const absl::Cleanup free_found = [found] { freeaddrinfo(found); };
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return strerror(errno);
  const absl::Cleanup close_fd = [fd] { close(fd); };
  const int on = 1;  // as gRPC does: a port in TIME_WAIT is free
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return bind(fd, found->ai_addr, found->ai_addrlen) == 0 ? "" : strerror(errno);
}

}  // namespace cvae
