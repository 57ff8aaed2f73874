#include "server/errors.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace cvae {
namespace {

constexpr char kTypePrefix[] = "type.googleapis.com/";
constexpr size_t kMaxMessageBytes = 1024;  // percent-encoded
constexpr size_t kMaxDetailsBytes = 3072;
constexpr absl::string_view kCut = "...";

template <class Detail>
void Attach(const Detail& detail, absl::Status* status) {
  status->SetPayload(absl::StrCat(kTypePrefix, detail.GetTypeName()), absl::Cord(detail.SerializeAsString()));
}

// Bytes that gRPC's percent-encoding makes of a byte: printable ASCII but '%' stays.
size_t EncodedBytes(char c) { return c >= ' ' && c <= '~' && c != '%' ? 1 : 3; }

// The longest prefix that takes at most `limit` bytes percent-encoded and does not end within a UTF-8 character.
std::string CutEncoded(absl::string_view message, size_t limit) {
  size_t encoded = 0;
  size_t end = 0;
  size_t end_if_cut = 0;  // where to cut to leave room for the dots
  while (end < message.size() && encoded + EncodedBytes(message[end]) <= limit) {
    encoded += EncodedBytes(message[end]);
    ++end;
    if (encoded <= limit - kCut.size()) end_if_cut = end;
  }
  if (end == message.size()) return std::string(message);
  while (end_if_cut > 0 && (message[end_if_cut] & 0xC0) == 0x80) --end_if_cut;
  return absl::StrCat(message.substr(0, end_if_cut), kCut);
}

}  // namespace

absl::Status FieldError(absl::string_view field, absl::string_view description) {
  absl::Status status = absl::InvalidArgumentError(absl::StrCat(field, ": ", description));
  google::rpc::BadRequest detail;
  auto* violation = detail.add_field_violations();
  violation->set_field(std::string(field));
  violation->set_description(CutEncoded(description, kMaxMessageBytes));
  Attach(detail, &status);
  return status;
}

absl::Status RetryLater(absl::string_view message, absl::Duration delay) {
  absl::Status status = absl::ResourceExhaustedError(message);
  google::rpc::RetryInfo detail;
  const int64_t nanos = std::max<int64_t>(0, absl::ToInt64Nanoseconds(delay));
  detail.mutable_retry_delay()->set_seconds(nanos / 1'000'000'000);
  detail.mutable_retry_delay()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  Attach(detail, &status);
  return status;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string message = CutEncoded(status.message(), kMaxMessageBytes);
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(message);
  status.ForEachPayload([&](absl::string_view type_url, const absl::Cord& payload) {
    auto* detail = details.add_details();
    detail->set_type_url(std::string(type_url));
    detail->set_value(std::string(payload));
    if (details.ByteSizeLong() > kMaxDetailsBytes) details.mutable_details()->RemoveLast();
  });
  const std::string serialized = details.details_size() == 0 ? "" : details.SerializeAsString();
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message, serialized);
}

std::string QuotedList(const std::vector<std::string>& items, size_t shown) {
  std::string list;
  for (size_t i = 0; i < std::min(shown, items.size()); ++i) absl::StrAppend(&list, i ? ", " : "", Quote(items[i]));
  if (items.size() > shown) absl::StrAppend(&list, " and ", items.size() - shown, " more");
  return list;
}

}  // namespace cvae
