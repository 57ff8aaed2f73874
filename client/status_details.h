// A server's errors as absl::Status, with the google.rpc details that they carry.

#ifndef CVAE_CLIENT_STATUS_DETAILS_H_
#define CVAE_CLIENT_STATUS_DETAILS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace cvae {

// One thing wrong with a request.
struct FieldViolation {
  std::string field;        // path of the field, "x.cols"
  std::string description;  // what was wrong, what is expected
};

// The same code and message; each detail is a payload of the status under its type URL
// ("type.googleapis.com/google.rpc.RetryInfo"). Details that do not parse are left out.
absl::Status FromGrpc(const grpc::Status& status);

// How long the server asks to wait before a retry, >= 0. None: the error carries no RetryInfo, so a retry is pointless.
std::optional<absl::Duration> RetryDelay(const absl::Status& status);

// What the server found wrong with the request; empty if it did not say.
std::vector<FieldViolation> FieldViolations(const absl::Status& status);

}  // namespace cvae

#endif  // CVAE_CLIENT_STATUS_DETAILS_H_
