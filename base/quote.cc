#include "base/quote.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace cvae {

std::string Quote(std::string_view text, size_t limit) {
  if (text.size() <= limit) return absl::StrCat("\"", absl::CEscape(std::string(text)), "\"");
  return absl::StrCat("\"", absl::CEscape(std::string(text.substr(0, limit))), "...\" (", text.size(), " bytes)");
}

}  // namespace cvae
