// JSON from untrusted text, into a DOM.

#ifndef CVAE_BASE_JSON_H_
#define CVAE_BASE_JSON_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace cvae {

using Json = nlohmann::json;

// Parses `text`, which must be one JSON value. INVALID_ARGUMENT if it is not, nests deeper than `max_depth`, or names a
// key of an object twice (which JSON leaves open, and parsers settle differently). Takes up to 16 times the text's
// memory: bound its size first.
absl::StatusOr<Json> ParseJson(std::string_view text, int max_depth = 32);

// Is it UTF-8, well-formed (the only strings that JSON and protobuf take)?
bool IsUtf8(std::string_view text);

// A parser's complaint in printable ASCII, cut to a sane length, without the library's own prefix.
std::string JsonErrorText(const nlohmann::detail::exception& error);

}  // namespace cvae

#endif  // CVAE_BASE_JSON_H_
