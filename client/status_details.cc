#include "client/status_details.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "cvae/internal/error_details.pb.h"

namespace cvae {
namespace {

constexpr char kRetryInfo[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr char kBadRequest[] = "type.googleapis.com/google.rpc.BadRequest";

// The payload under `type_url` as a message; none if it is not there or does not parse.
template <typename Message>
std::optional<Message> Payload(const absl::Status& status, const char* type_url) {
  const auto bytes = status.GetPayload(type_url);
  Message message;
  if (!bytes.has_value() || !message.ParseFromString(std::string(*bytes))) return std::nullopt;
  return message;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  absl::Status result(code, status.error_message().empty() ? absl::StatusCodeToString(code) : status.error_message());
  internal::Status details;
  if (details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
  return result;
}

std::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  const auto info = Payload<internal::RetryInfo>(status, kRetryInfo);
  if (!info.has_value()) return std::nullopt;
  const auto& delay = info->retry_delay();
  return std::max(absl::ZeroDuration(), absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos()));
}

std::vector<FieldViolation> FieldViolations(const absl::Status& status) {
  std::vector<FieldViolation> violations;
  const auto bad_request = Payload<internal::BadRequest>(status, kBadRequest);
  if (!bad_request.has_value()) return violations;
  for (const auto& violation : bad_request->field_violations()) {
    violations.push_back({violation.field(), violation.description()});
  }
  return violations;
}

}  // namespace cvae
