#include "kernels/model/description.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

constexpr size_t kMaxNameSize = 256;

bool Contains(std::initializer_list<const char*> keys, const std::string& key) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* other) { return key == other; });
}

// The value for a message; of a list or an object only what it is.
std::string Show(const Json& json) {
  if (json.is_string()) return Quote(json.get_ref<const std::string&>());
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  return json.dump();
}

}  // namespace

absl::Status Node::Error(const std::string& message) const {
  return absl::InvalidArgumentError(absl::StrCat(place_.empty() ? "description" : place_, ": ", message));
}

absl::Status Node::Unexpected(const std::string& expected) const {
  return Error(absl::StrCat("got ", Show(*json_), ", expected ", expected));
}

absl::StatusOr<int> Node::Integer(int min, int max) const {
  // A negative integer is never in range here, and a number_unsigned compares without a conversion.
  if (json_->is_number_unsigned()) {
    const uint64_t value = json_->get<uint64_t>();
    if (value >= static_cast<uint64_t>(min) && value <= static_cast<uint64_t>(max)) return static_cast<int>(value);
  }
  return Unexpected(absl::StrCat("an integer from ", min, " to ", max));
}

absl::StatusOr<double> Node::Number() const {
  if (json_->is_number()) return json_->get<double>();  // the parser refuses one that overflows
  return Unexpected("a number");
}

absl::StatusOr<float> Node::Float() const {
  if (json_->is_number() && std::abs(json_->get<double>()) <= std::numeric_limits<float>::max()) {
    return json_->get<float>();
  }
  return Unexpected("a number that float32 holds");
}

absl::StatusOr<std::string> Node::Name() const {
  if (!json_->is_string()) return Unexpected("a name (a string)");
  const std::string& name = json_->get_ref<const std::string&>();
  const bool control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!name.empty() && name.size() <= kMaxNameSize && !control) return name;
  return Unexpected(absl::StrCat("a name of 1 to ", kMaxNameSize, " bytes without control characters"));
}

absl::StatusOr<std::vector<Node>> Node::List() const {
  if (!json_->is_array()) return Unexpected("a list");
  std::vector<Node> nodes;
  nodes.reserve(json_->size());
  for (const Json& element : *json_) nodes.emplace_back(element, absl::StrCat(place_, "[", nodes.size(), "]"));
  return nodes;
}

absl::StatusOr<std::pair<float, float>> Node::Range() const {
  if (!json_->is_array() || json_->size() != 2) return Unexpected("a range [low, high]");
  const Json& list = *json_;
  float ends[2];
  for (int i = 0; i < 2; ++i) {
    CVAE_ASSIGN_OR_RETURN(ends[i], Node(list[i], absl::StrCat(place_, "[", i, "]")).Float());
  }
  if (ends[0] <= ends[1]) return std::make_pair(ends[0], ends[1]);
  return Error(absl::StrCat("got [", ends[0], ", ", ends[1], "], expected the lower end first"));
}

absl::Status Node::CheckKeys(std::initializer_list<const char*> required, std::initializer_list<const char*> optional,
                             std::initializer_list<const char*> later) const {
  if (!json_->is_object()) return Unexpected("an object");
  for (const auto& [key, value] : json_->items()) {
    if (Contains(later, key)) return Error(absl::StrCat(key, " is not served by this version"));
    if (Contains(required, key) || Contains(optional, key)) continue;
    std::vector<const char*> known(required);
    known.insert(known.end(), optional.begin(), optional.end());
    return Error(
        absl::StrCat("unknown key ", Quote(key), ", expected ", known.empty() ? "none" : absl::StrJoin(known, ", ")));
  }
  for (const char* key : required) {
    if (!json_->contains(key)) return Error(absl::StrCat("has no key \"", key, "\""));
  }
  return absl::OkStatus();
}

std::optional<Node> Node::Find(const char* key) const {
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return Node(*found, place_.empty() ? key : absl::StrCat(place_, ".", key));
}

}  // namespace cvae
