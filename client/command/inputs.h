// The arrays that a command line names, read from their files but not yet fitted to a model.

#ifndef CVAE_CLIENT_COMMAND_INPUTS_H_
#define CVAE_CLIENT_COMMAND_INPUTS_H_

#include <istream>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/command/array.h"
#include "client/command/options.h"

namespace cvae {

struct ConditionInputs {
  std::optional<Array> labels;
  std::optional<Array> y;
  std::map<std::string, Array> parts;
  bool by_chance = false;  // nobody asked for it: the --in file has a tensor of that name

  bool empty() const { return !labels.has_value() && !y.has_value() && parts.empty(); }
};

struct Inputs {
  std::optional<Array> rows;  // x; z for decode; none for generate
  ConditionInputs condition;
  ConditionInputs decode_condition;
  std::optional<Array> eps;
  std::optional<Array> target;
  bool labels_hint = false;  // the CSV has a column headed "label" or alike among the numbers
};

// Reads them all; `standard_input` is read for --in -. Fails with the errors of reading and parsing, which begin with
// the file's name, and INVALID_ARGUMENT for a tensor or column that is not there.
absl::StatusOr<Inputs> ReadInputs(const Options& options, std::istream& standard_input);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_INPUTS_H_
