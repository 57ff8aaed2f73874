#include "base/json.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"

namespace cvae {
namespace {

// Thrown out of the parser's callback, which has no other way to stop it; caught in ParseJson.
struct Refusal {
  std::string why;
};

// The parser's callback: bounds the depth and remembers the keys of each open object.
class Guard {
 public:
  explicit Guard(int max_depth) : max_depth_(max_depth) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth >= max_depth_) throw Refusal{absl::StrCat("nests deeper than ", max_depth_, " levels")};
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) throw Refusal{absl::StrCat("has the key ", Quote(key), " twice")};
    }
    return true;
  }

 private:
  const int max_depth_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

std::string JsonErrorText(const nlohmann::detail::exception& error) {
  std::string_view text = error.what();
  if (const size_t prefix = text.find("] "); prefix != text.npos) text.remove_prefix(prefix + 2);
  return absl::CHexEscape(std::string(text.substr(0, 200)));
}

absl::StatusOr<Json> ParseJson(std::string_view text, int max_depth) {
  // The library takes a NUL for the end of its input.
  if (text.find('\0') != text.npos) return absl::InvalidArgumentError("not JSON: contains a NUL byte");
  Guard guard(max_depth);
  try {
    return Json::parse(text, [&guard](int depth, Json::parse_event_t event, const Json& parsed) {
      return guard(depth, event, parsed);
    });
  } catch (const Refusal& refusal) {
    return absl::InvalidArgumentError(absl::StrCat("JSON ", refusal.why));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not JSON: ", JsonErrorText(error)));
  }
}

bool IsUtf8(std::string_view text) {
  try {
    Json(std::string(text)).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

}  // namespace cvae
