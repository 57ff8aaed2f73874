#include "client/command/option_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

constexpr unsigned kInfo = CommandBit(Command::kInfo);
constexpr unsigned kEncode = CommandBit(Command::kEncode);
constexpr unsigned kReconstruct = CommandBit(Command::kReconstruct);
constexpr unsigned kLoss = CommandBit(Command::kLoss);
constexpr unsigned kDecode = CommandBit(Command::kDecode);
constexpr unsigned kGenerate = CommandBit(Command::kGenerate);
constexpr unsigned kRows = kEncode | kReconstruct | kLoss | kDecode | kGenerate;
constexpr unsigned kAll = kInfo | kRows;
constexpr unsigned kNoise = kReconstruct | kLoss | kGenerate;
constexpr unsigned kTerms = kReconstruct | kLoss;
constexpr unsigned kPictures = kReconstruct | kDecode | kGenerate;

// Headings of the help.
constexpr char kServer[] = "Server";
constexpr char kInput[] = "Rows";
constexpr char kCondition[] = "Condition (LIST is 3 or 0,7,7 or zero,seven; one element stands for all rows)";
constexpr char kNoiseGroup[] = "Noise (none of these: what the model says, or a seed that is then answered)";
constexpr char kAnswer[] = "Answer";
constexpr char kPicture[] = "Picture";

using Setter = std::function<absl::Status(Options&, const std::string&)>;

absl::Status Expected(absl::string_view what, const std::string& got) {
  return absl::InvalidArgumentError(absl::StrCat("got ", Quote(got), ", expected ", what));
}

Setter Text(std::string Options::*member) {
  return [member](Options& options, const std::string& value) {
    if (value.empty()) return Expected("something", value);
    options.*member = value;
    return absl::OkStatus();
  };
}

Setter Switch(bool Options::*member) {
  return [member](Options& options, const std::string&) {
    options.*member = true;
    return absl::OkStatus();
  };
}

// A whole number of `least` or more.
template <typename Member>
Setter Number(Member Options::*member, uint64_t least) {
  return [member, least](Options& options, const std::string& value) {
    using Unsigned = std::conditional_t<std::is_same_v<Member, uint32_t>, uint32_t, uint64_t>;
    Unsigned number = 0;
    if (!absl::SimpleAtoi(value, &number) || number < least) {
      return Expected(absl::StrCat("a whole number from ", least, " to ", std::numeric_limits<Unsigned>::max()), value);
    }
    options.*member = number;
    return absl::OkStatus();
  };
}

// NAME=VALUE into a map.
absl::Status AddPair(const std::string& text, const char* what, std::map<std::string, std::string>& pairs) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return Expected(what, text);
  if (!pairs.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text.substr(0, equals)), " is given twice"));
  }
  return absl::OkStatus();
}

Setter Source(ConditionSources Options::*condition, std::string ConditionSources::*member) {
  return [=](Options& options, const std::string& value) {
    if (value.empty()) return Expected("a list, a file or @NAME", value);
    options.*condition.*member = value;
    return absl::OkStatus();
  };
}

Setter PartSource(ConditionSources Options::*condition) {
  return [=](Options& options, const std::string& value) {
    return AddPair(value, "NAME=LIST, NAME=FILE or NAME=@NAME", (options.*condition).parts);
  };
}

absl::Status SetTensor(Options& options, const std::string& value) {
  CVAE_RETURN_IF_ERROR(AddPair(value, "ROLE=NAME", options.tensors));
  for (const auto& [role, name] : options.tensors) {
    if (role != "x" && role != "z" && role != "y" && role != "labels" && role != "eps" && role != "target") {
      return Expected("x, z, y, labels, eps or target before the '='", role);
    }
  }
  return absl::OkStatus();
}

absl::Status SetTimeout(Options& options, const std::string& value) {
  double seconds = 0;
  absl::Duration timeout;
  if (absl::SimpleAtod(value, &seconds)) {
    timeout = std::isnan(seconds) ? absl::ZeroDuration() : absl::Seconds(seconds);
  } else if (!absl::ParseDuration(value, &timeout)) {
    timeout = absl::ZeroDuration();
  }
  if (!(timeout > absl::ZeroDuration())) return Expected("a time such as 30, 1.5s, 500ms or inf", value);
  options.timeout = timeout;
  return absl::OkStatus();
}

absl::Status SetTemperature(Options& options, const std::string& value) {
  float temperature = 0;
  if (!absl::SimpleAtof(value, &temperature) || !std::isfinite(temperature) || temperature < 0) {
    return Expected("a number, 0 or more", value);
  }
  options.temperature = temperature;
  return absl::OkStatus();
}

absl::Status SetRange(Options& options, const std::string& value) {
  const size_t comma = std::min(value.find(','), value.size());
  const bool numbers = absl::SimpleAtof(value.substr(0, comma), &options.range_low) && comma < value.size() &&
                       absl::SimpleAtof(value.substr(comma + 1), &options.range_high);
  if (!numbers || !std::isfinite(options.range_high - options.range_low) || options.range_low >= options.range_high) {
    return Expected("two numbers LOW,HIGH with LOW < HIGH", value);
  }
  return absl::OkStatus();
}

std::vector<OptionSpec> MakeOptions() {
  return {
      {kServer, "server", "ADDRESS", kAll, "host:port or unix:PATH (default: $CVAE_SERVER, else localhost:8001)",
       Text(&Options::server)},
      {kServer, "model", "NAME", kAll, "which model, on a server of several", Text(&Options::model)},
      {kServer, "timeout", "TIME", kAll, "how long a call may take, retries included: 30, 500ms, inf (default 60s)",
       SetTimeout},

      {kInput, "in", "FILE", kRows,
       ".safetensors (tensors x, z, y, labels, eps, target are used under these names), .npy, .csv, or - for CSV from\n"
       "standard input. Rows may be images: [B, 28, 28] is [B, 784]",
       Text(&Options::in)},
      {kInput, "tensor", "ROLE=NAME", kRows, "take ROLE (x, z, y, ...) from the tensor NAME of --in; repeatable",
       SetTensor},
      {kInput, "allow-non-finite", "", kRows, "send NaN and infinities too: they stay in their own rows",
       Switch(&Options::allow_non_finite)},
      {kInput, "first-row", "N", kRows, "index of the first row in your own larger set: which noise it gets",
       Number(&Options::first_row, 0)},
      {kInput, "chunk-rows", "N", kRows, "rows of a call (default: what suits the model); the answer is the same",
       Number(&Options::chunk_rows, 1)},
      {kInput, "rows", "N", kGenerate, "rows to generate, for a model without a condition or with one for all rows",
       Number(&Options::rows, 1)},

      {kCondition, "labels", "LIST|FILE|@NAME", kRows,
       "a class a row, by id or name; @NAME: a column (by name, or 1, 2, ...) or tensor of --in",
       Source(&Options::condition, &ConditionSources::labels)},
      {kCondition, "y", "FILE|@NAME", kRows, "[B, L], all parts side by side, one-hot or any weights",
       Source(&Options::condition, &ConditionSources::y)},
      {kCondition, "part", "NAME=LIST|FILE|@NAME", kRows, "one part of the condition; give each part once",
       PartSource(&Options::condition)},
      {kCondition, "decode-labels", "LIST|FILE|@NAME", kReconstruct,
       "decode under another condition than the rows were encoded with",
       Source(&Options::decode_condition, &ConditionSources::labels)},
      {kCondition, "decode-y", "FILE|@NAME", kReconstruct, "the same, as columns",
       Source(&Options::decode_condition, &ConditionSources::y)},
      {kCondition, "decode-part", "NAME=LIST|FILE|@NAME", kReconstruct, "the same, by parts",
       PartSource(&Options::decode_condition)},

      {kNoiseGroup, "seed", "N", kNoise, "draw from this seed: the same rows and seed give the same answer",
       Number(&Options::seed, 0)},
      {kNoiseGroup, "mean", "", kNoise, "no noise: z = mu (generate: z = 0)", Switch(&Options::mean)},
      {kNoiseGroup, "eps", "FILE|@NAME", kNoise, "your own, [B * samples, Z] (generate: z itself)",
       Text(&Options::eps)},
      {kNoiseGroup, "temperature", "T", kGenerate, "scale of the drawn z (default 1)", SetTemperature},

      {kAnswer, "samples", "K", kLoss, "latents a row that the reconstruction term is averaged over (default 1)",
       Number(&Options::samples, 1)},
      {kAnswer, "samples-per-row", "S", kGenerate, "rows generated for each condition (default 1)",
       Number(&Options::samples, 1)},
      {kAnswer, "loss", "", kReconstruct, "the loss terms of the same pass too", Switch(&Options::loss)},
      {kAnswer, "per-row", "", kTerms, "the terms of each row too", Switch(&Options::per_row)},
      {kAnswer, "per-column", "", kTerms, "the reconstruction term's elements, [B, O], too",
       Switch(&Options::per_column)},
      {kAnswer, "per-latent", "", kTerms, "the KL term's elements, [B, Z], too", Switch(&Options::per_latent)},
      {kAnswer, "target", "FILE|@NAME", kTerms, "[B, O], what reconstructions are compared with (default: x)",
       Text(&Options::target)},
      {kAnswer, "return-z", "", kReconstruct | kGenerate, "the latents that were decoded too",
       Switch(&Options::return_z)},
      {kAnswer, "out", "FILE", kRows, "write the numbers to FILE.safetensors, .npy or .csv, not to the terminal",
       Text(&Options::out)},
      {kAnswer, "field", "NAME", kRows, "only this one: mu, logvar, x_hat, z, row_recon, ... (.npy holds just one)",
       Text(&Options::field)},
      {kAnswer, "json", "", kAll, "print JSON, with every digit", Switch(&Options::json)},

      {kPicture, "picture", "FILE.png", kPictures,
       "draw the rows as images (reconstruct: each line of originals above its reconstructions)",
       Text(&Options::picture)},
      {kPicture, "picture-below", "FILE.png", kPictures,
       "draw below the picture in FILE.png, which may be the --picture itself", Text(&Options::picture_below)},
      {kPicture, "picture-columns", "N", kPictures, "images a line (default 16; generate: the samples of a row)",
       Number(&Options::picture_columns, 1)},
      {kPicture, "width", "W", kPictures, "pixels of an image's line (default: a square)", Number(&Options::width, 1)},
      {kPicture, "range", "LOW,HIGH", kPictures, "the values drawn black and white (default 0,1)", SetRange},
  };
}

}  // namespace

const std::vector<OptionSpec>& OptionTable() {
  static const auto& table = *new std::vector<OptionSpec>(MakeOptions());
  return table;
}

const std::vector<CommandSpec>& CommandTable() {
  static const auto& table = *new std::vector<CommandSpec>{
      {Command::kInfo, "info", "what the server's models are and take", "  cvae info\n  cvae info --json\n"},
      {Command::kEncode, "encode", "rows to their latent distribution, mu and logvar",
       "  cvae encode --in rows.csv --labels labels.npy --out latents.safetensors\n"
       "  cvae encode --in rows.npy --labels 7 --out mu.npy --field mu\n"},
      {Command::kReconstruct, "reconstruct", "rows encoded and decoded",
       "  cvae reconstruct --in rows.safetensors --mean --picture rows.png\n"
       "  cvae reconstruct --in rows.npy --labels labels.npy --decode-labels 3 --out as_threes.npy\n"},
      {Command::kLoss, "loss", "the loss terms of rows (negative ELBO), of all and of each",
       "  cvae loss --in rows.csv --labels @digit --seed 1\n"
       "  cvae loss --in rows.safetensors --samples 64 --per-row --out scores.csv\n"},
      {Command::kDecode, "decode", "latents to rows", "  cvae decode --in z.csv --labels zero,seven --out rows.npy\n"},
      {Command::kGenerate, "generate", "new rows under a condition",
       "  cvae generate --labels 7 --seed 42\n"
       "  cvae generate --labels 0,1,2,3 --samples-per-row 10 --picture digits.png\n"},
  };
  return table;
}

}  // namespace cvae
