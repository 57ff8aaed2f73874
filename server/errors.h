// Errors as callers see them: a code, a message a person can act on, and google.rpc details.
//
// Inside the server an error is an absl::Status; details ride on it as payloads under their type URLs and leave the
// process in ToGrpcStatus, the only place that knows how gRPC carries them.

#ifndef CVAE_SERVER_ERRORS_H_
#define CVAE_SERVER_ERRORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace cvae {

// INVALID_ARGUMENT: "FIELD: DESCRIPTION", with a BadRequest detail. `field` is a path in the request, "x.cols".
absl::Status FieldError(absl::string_view field, absl::string_view description);

// RESOURCE_EXHAUSTED with a RetryInfo detail: the same call may succeed after `delay`.
absl::Status RetryLater(absl::string_view message, absl::Duration delay);

// As gRPC sends it: the message is cut to 1 KiB after gRPC's percent-encoding and the details to 3 KiB, since clients
// take 8 KiB of metadata and more arrives as another code.
grpc::Status ToGrpcStatus(const absl::Status& status);

// "a", "b", "c" and 993 more: the first `shown` of a list, each quoted.
std::string QuotedList(const std::vector<std::string>& items, size_t shown = 10);

}  // namespace cvae

#endif  // CVAE_SERVER_ERRORS_H_
