// The JSON description of a model, read strictly: every error names its place, what was there and what was expected.

#ifndef CVAE_KERNELS_MODEL_DESCRIPTION_H_
#define CVAE_KERNELS_MODEL_DESCRIPTION_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json.h"

namespace cvae {

// Columns of any matrix of a request or between two layers ([x, y] beside each other may be twice that).
inline constexpr int kMaxWidth = 65536;

// A JSON value and its place, such as "encoder[1].linear". A view: the JSON must outlive it.
class Node {
 public:
  Node(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  const Json& json() const { return *json_; }
  const std::string& place() const { return place_; }

  // INVALID_ARGUMENT "PLACE: MESSAGE".
  absl::Status Error(const std::string& message) const;
  // "PLACE: got VALUE, expected EXPECTED", the value cut and escaped.
  absl::Status Unexpected(const std::string& expected) const;

  // The value, or an error that says what it should be.
  absl::StatusOr<int> Integer(int min, int max) const;
  absl::StatusOr<double> Number() const;  // finite
  absl::StatusOr<float> Float() const;    // the nearest float, finite
  // A name: 1 to 256 bytes without control characters.
  absl::StatusOr<std::string> Name() const;
  absl::StatusOr<std::vector<Node>> List() const;
  // [low, high]: two floats, low <= high.
  absl::StatusOr<std::pair<float, float>> Range() const;

  // The value of the one of `choices` whose name this is.
  template <typename T>
  absl::StatusOr<T> Choice(std::initializer_list<std::pair<const char*, T>> choices) const {
    std::string names;
    for (const auto& [name, value] : choices) {
      if (json_->is_string() && json_->get_ref<const std::string&>() == name) return value;
      names += (names.empty() ? "\"" : " or \"") + std::string(name) + "\"";
    }
    return Unexpected(names);
  }

  // OK if this is an object with all of `required`, perhaps some of `optional`, and no other key. A key of `later` is
  // one of the format that this version does not serve, and is refused as such.
  absl::Status CheckKeys(std::initializer_list<const char*> required, std::initializer_list<const char*> optional = {},
                         std::initializer_list<const char*> later = {}) const;
  // The value of a key; nothing if there is none. REQUIRES an object.
  std::optional<Node> Find(const char* key) const;
  // REQUIRES that there is one (CheckKeys has said so).
  Node At(const char* key) const { return *Find(key); }

 private:
  const Json* json_;
  std::string place_;  // empty: the whole description
};

}  // namespace cvae

#endif  // CVAE_KERNELS_MODEL_DESCRIPTION_H_
