#include "client/command/failure.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cvae {
namespace {

constexpr char kMistake[] = "cvae/mistake";

// The end of what gRPC says, "Connection refused"; before it stand codes and addresses.
std::string Reason(const std::string& message) {
  const size_t colon = message.rfind(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

std::string ExplainText(const absl::Status& status, const Options& options) {
  const std::string message(status.message());
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      if (absl::StrContains(message, "Socket closed") || absl::StrContains(message, "Connection reset") ||
          absl::StrContains(message, "GOAWAY")) {
        return absl::StrCat(options.server, " closed the connection (", Reason(message),
                            "); does a cvae-server listen there, and does it still run?");
      }
      if (absl::StrContains(message, "failed to connect") || absl::StrContains(message, "DNS resolution failed") ||
          absl::StrContains(message, "connections to all backends")) {
        return absl::StrCat("no server answers at ", options.server, " (", Reason(message),
                            "); --server or CVAE_SERVER names another");
      }
      return absl::StrCat(options.server, ": ", message);
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat("no answer from ", options.server, " within ", absl::FormatDuration(options.timeout),
                          "; --timeout allows more");
    case absl::StatusCode::kResourceExhausted:
      if (absl::StrContains(message, "message larger than max")) {
        return absl::StrCat(message, "; --chunk-rows makes calls smaller");
      }
      return message;
    case absl::StatusCode::kUnimplemented:
      return absl::StrCat(options.server, " does not serve this: ", message.empty() ? "is it a cvae-server?" : message);
    default:
      return message;
  }
}

}  // namespace

absl::Status Mistake(absl::Status status) {
  if (!status.ok()) status.SetPayload(kMistake, absl::Cord());
  return status;
}

absl::Status FromServer(absl::Status status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? Mistake(std::move(status)) : status;
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  return status.GetPayload(kMistake).has_value() ? kExitMistake : kExitFailed;
}

std::string Explain(const absl::Status& status, const Options& options) {
  const bool ours = ExitCode(status) == kExitMistake;
  const std::string text = ours ? std::string(status.message()) : ExplainText(status, options);
  return absl::StrReplaceAll(text, {{"\n", " "}});
}

}  // namespace cvae
