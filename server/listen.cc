#include "server/listen.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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
  return std::unique_ptr<UnixPathClaim>(new UnixPathClaim(path, fd));
}

UnixPathClaim::~UnixPathClaim() {
  unlink(path_.c_str());
  close(fd_);
}

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
