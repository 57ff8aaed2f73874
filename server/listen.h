// Addresses to listen on, and what can be wrong with them before gRPC is asked: it says little, and steals a live Unix
// path.

#ifndef CVAE_SERVER_LISTEN_H_
#define CVAE_SERVER_LISTEN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cvae {

// One --listen: "127.0.0.1:8001", "[::1]:8001", "localhost:0" (a free port), "unix:/run/cvae.sock".
struct ListenAddress {
  std::string text;       // as given
  std::string unix_path;  // empty: a TCP address
};

// INVALID_ARGUMENT names the address and the forms that are known.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

// The address as gRPC takes it: percent-encoded.
std::string GrpcAddress(const ListenAddress& address);

// A Unix path claimed by this process: holds flock on PATH.lock for as long as it lives, since gRPC unlinks a socket
// before it binds, also one that another server still listens on.
class UnixPathClaim {
 public:
  // FAILED_PRECONDITION: another process holds it, or something is there that is not the socket of a server that has
  // died. Other errors of the lock file name it.
  static absl::StatusOr<std::unique_ptr<UnixPathClaim>> Take(const std::string& path);

  // Lets go. Removes the socket; the lock file stays, since removing it would race with the next server.
  ~UnixPathClaim();
  UnixPathClaim(const UnixPathClaim&) = delete;
  UnixPathClaim& operator=(const UnixPathClaim&) = delete;

 private:
  UnixPathClaim(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::string path_;
  const int fd_;
};

// Why a TCP address cannot be bound, by trying: "Address already in use". Empty if it can.
std::string WhyNotBindable(const ListenAddress& address);

}  // namespace cvae

#endif  // CVAE_SERVER_LISTEN_H_
