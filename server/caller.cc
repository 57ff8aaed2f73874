#include "server/caller.h"

#include <optional>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "server/errors.h"

namespace cvae {
namespace {

constexpr char kPriorityKey[] = "cvae-priority";

std::optional<absl::string_view> Metadata(Call& call, const std::string& key) {
  const auto& metadata = call.context().client_metadata();
  const auto found = metadata.find(key);
  if (found == metadata.end()) return std::nullopt;
  return absl::string_view(found->second.data(), found->second.size());
}

}  // namespace

absl::StatusOr<Priority> PriorityOf(Call& call) {
  const std::optional<absl::string_view> value = Metadata(call, kPriorityKey);
  if (!value.has_value() || *value == "normal") return Priority::kNormal;
  if (*value == "high") return Priority::kHigh;
  if (*value == "low") return Priority::kLow;
  return FieldError(kPriorityKey, absl::StrCat("got ", Quote(std::string(*value)), ", expected high, normal or low"));
}

uint64_t ClientOf(Call& call, const std::string& key_header) {
  if (!key_header.empty()) {
    if (const std::optional<absl::string_view> key = Metadata(call, key_header)) return absl::HashOf(*key, true);
  }
  const std::string peer = call.context().peer();
  const absl::string_view host = PeerHost(peer);
  return host.empty() ? absl::HashOf(call.connection()) : absl::HashOf(host, false);
}

absl::string_view PeerHost(absl::string_view peer) {
  if (!absl::StartsWith(peer, "ipv4:") && !absl::StartsWith(peer, "ipv6:")) return "";
  return peer.substr(0, peer.rfind(':'));
}

}  // namespace cvae
