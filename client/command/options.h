// What was typed after `cvae`.

#ifndef CVAE_CLIENT_COMMAND_OPTIONS_H_
#define CVAE_CLIENT_COMMAND_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace cvae {

enum class Command { kInfo, kEncode, kReconstruct, kLoss, kDecode, kGenerate };

// Where a condition comes from: one of the three, or none. Sources are as the help says: FILE, @NAME or a list.
struct ConditionSources {
  std::string labels;
  std::string y;
  std::map<std::string, std::string> parts;  // by the part's name

  bool empty() const { return labels.empty() && y.empty() && parts.empty(); }
};

// Every option, each documented in options.cc, whose table is also the help.
struct Options {
  Command command = Command::kInfo;

  // The server.
  std::string server;
  std::string model;
  absl::Duration timeout = absl::Seconds(60);

  // The rows.
  std::string in;
  std::map<std::string, std::string> tensors;  // role -> tensor of `in`
  ConditionSources condition;
  ConditionSources decode_condition;
  std::string target;
  bool allow_non_finite = false;
  uint64_t first_row = 0;
  uint64_t chunk_rows = 0;

  // The noise: at most one of the three.
  std::optional<uint64_t> seed;
  bool mean = false;
  std::string eps;

  // What is asked for.
  uint32_t rows = 0;
  uint32_t samples = 0;  // --samples, --samples-per-row
  std::optional<float> temperature;
  bool loss = false;
  bool per_row = false;
  bool per_column = false;
  bool per_latent = false;
  bool return_z = false;

  // Where it goes.
  std::string out;
  std::string field;
  bool json = false;
  std::string picture;
  std::string picture_below;
  uint32_t picture_columns = 0;
  uint32_t width = 0;
  float range_low = 0;
  float range_high = 1;
};

struct CommandLine {
  std::string text;  // to print and be done with: a help, the version; empty: run `options`
  Options options;
};

// Parses what follows the program's name. `default_server` is what --server is without the option. INVALID_ARGUMENT: an
// option that is unknown, belongs to another command, lacks its value, or has one that does not fit; options that
// exclude each other; no command.
absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string> arguments,
                                             const std::string& default_server);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_OPTIONS_H_
