#include "client/command/options.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "client/command/option_table.h"

namespace cvae {
namespace {

constexpr char kExitCodes[] =
    "\nExit code: 0 done; 1 the server or the network failed or refused, or the answer could not be written;\n"
    "2 the command line or an input is wrong.\n";

std::string GeneralHelp() {
  std::string text =
      "Calls a cvae-server: conditional variational autoencoders over gRPC.\n\nUsage: cvae COMMAND [OPTIONS]\n\n";
  for (const CommandSpec& command : CommandTable()) {
    absl::StrAppend(&text, "  ", command.name, std::string(14 - std::string(command.name).size(), ' '), command.summary,
                    "\n");
  }
  absl::StrAppend(&text, "\ncvae COMMAND --help lists the command's options; cvae --version says which this is.\n",
                  "The server is localhost:8001 unless --server or the environment's CVAE_SERVER says otherwise.\n",
                  kExitCodes);
  return text;
}

std::string CommandHelp(const CommandSpec& command) {
  constexpr size_t kColumn = 36;
  std::string text = absl::StrCat("cvae ", command.name, ": ", command.summary, "\n\n", command.examples);
  const char* group = nullptr;
  for (const OptionSpec& option : OptionTable()) {
    if (!(option.commands & CommandBit(command.command))) continue;
    if (group == nullptr || absl::string_view(group) != option.group) {
      group = option.group;
      absl::StrAppend(&text, "\n", group, "\n");
    }
    std::string left = absl::StrCat("  --", option.name, *option.value == '\0' ? "" : " ", option.value);
    left.resize(std::max(left.size() + 2, kColumn), ' ');
    const std::string indent = absl::StrCat("\n", std::string(kColumn, ' '));
    absl::StrAppend(&text, left, absl::StrReplaceAll(option.help, {{"\n", indent}}), "\n");
  }
  return text + kExitCodes;
}

const CommandSpec* FindCommand(const std::string& name) {
  for (const CommandSpec& command : CommandTable()) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

const OptionSpec* FindOption(const std::string& name, const CommandSpec& command) {
  for (const OptionSpec& option : OptionTable()) {
    if (name == option.name && (option.commands & CommandBit(command.command))) return &option;
  }
  return nullptr;
}

absl::Status UnknownOption(const std::string& name, const CommandSpec& command) {
  std::vector<std::string> takers;
  for (const OptionSpec& option : OptionTable()) {
    if (name != option.name) continue;
    for (const CommandSpec& other : CommandTable()) {
      if (option.commands & CommandBit(other.command)) takers.push_back(other.name);
    }
  }
  const std::string why = takers.empty() ? "is not known" : absl::StrCat("belongs to ", absl::StrJoin(takers, ", "));
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, " ", why, "; 'cvae ", command.name, " --help' lists what it takes"));
}

// Reads the options that follow the command's name.
absl::Status ParseOptions(absl::Span<const std::string> arguments, const CommandSpec& command, Options& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string argument = arguments[i];
    if (argument == "-o") argument = "--out";
    if (argument == "-i") argument = "--in";
    if (!absl::StartsWith(argument, "--")) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(argument), " is no option; files are given as --in FILE and --out FILE"));
    }
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string name = argument.substr(2, equals - 2);
    const OptionSpec* option = FindOption(name, command);
    if (option == nullptr) return UnknownOption(name, command);
    std::string value;
    const bool takes_value = *option->value != '\0';
    if (takes_value && equals == argument.size() && i + 1 == arguments.size()) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, ": expected ", option->value, " after it"));
    }
    if (!takes_value && equals < argument.size()) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, ": takes no value"));
    }
    if (takes_value) value = equals < argument.size() ? argument.substr(equals + 1) : arguments[++i];
    const absl::Status status = option->set(options, value);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status CheckCondition(const ConditionSources& sources, const char* prefix) {
  const int given = !sources.labels.empty() + !sources.y.empty() + !sources.parts.empty();
  if (given <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", prefix, "labels, --", prefix, "y and --", prefix, "part exclude each other"));
}

// gRPC would take an address without a port, or with a scheme, and say only after a timeout that nobody answers.
absl::Status CheckServer(const std::string& server) {
  const size_t colon = server.rfind(':');
  int port = 0;
  const bool unix_path = absl::StartsWith(server, "unix:") && server.size() > 5;
  const bool host_port = colon != std::string::npos && colon > 0 && absl::SimpleAtoi(server.substr(colon + 1), &port) &&
                         port > 0 && port < 65536 && !absl::StrContains(server, "/");
  if (unix_path || host_port) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--server: got ", Quote(server), ", expected HOST:PORT or unix:PATH"));
}

// What options say together.
absl::Status CheckOptions(const Options& options) {
  CVAE_RETURN_IF_ERROR(CheckServer(options.server));
  CVAE_RETURN_IF_ERROR(CheckCondition(options.condition, ""));
  CVAE_RETURN_IF_ERROR(CheckCondition(options.decode_condition, "decode-"));
  if (options.seed.has_value() + options.mean + !options.eps.empty() > 1) {
    return absl::InvalidArgumentError("--seed, --mean and --eps exclude each other");
  }
  const Command command = options.command;
  if (options.in.empty() && command != Command::kInfo && command != Command::kGenerate) {
    return absl::InvalidArgumentError("which rows? --in FILE (.safetensors, .npy, .csv, or - for CSV)");
  }
  if (options.in.empty() && !options.tensors.empty()) {
    return absl::InvalidArgumentError("--tensor names a tensor of --in, which is missing");
  }
  const bool terms = options.per_row || options.per_column || options.per_latent || !options.target.empty();
  if (command == Command::kReconstruct && terms && !options.loss) {
    return absl::InvalidArgumentError("--per-row, --per-column, --per-latent and --target go with --loss");
  }
  if (options.picture.empty() && (!options.picture_below.empty() || options.picture_columns || options.width)) {
    return absl::InvalidArgumentError("--picture-below, --picture-columns and --width go with --picture FILE.png");
  }
  if (!options.picture.empty() && !absl::EndsWithIgnoreCase(options.picture, ".png")) {
    return absl::InvalidArgumentError(absl::StrCat("--picture: got ", Quote(options.picture), ", expected FILE.png"));
  }
  const std::string& out = options.out;
  if (!out.empty() && !absl::EndsWithIgnoreCase(out, ".safetensors") && !absl::EndsWithIgnoreCase(out, ".npy") &&
      !absl::EndsWithIgnoreCase(out, ".csv")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out: got ", Quote(out), ", expected a name that ends in .safetensors, .npy or .csv"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string> arguments,
                                             const std::string& default_server) {
  CommandLine line;
  if (arguments.empty()) return absl::InvalidArgumentError("no command; 'cvae --help' lists them");
  const std::string& name = arguments[0];
  if (name == "--help" || name == "-h" || (name == "help" && arguments.size() == 1)) {
    line.text = GeneralHelp();
    return line;
  }
  if (name == "--version") {
    line.text = "cvae " CVAE_VERSION "\n";
    return line;
  }
  const bool help_first = name == "help";
  const std::string& command_name = help_first ? arguments[1] : name;
  const CommandSpec* command = FindCommand(command_name);
  if (command == nullptr && absl::StartsWith(command_name, "-")) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(command_name), " stands before the command; it goes after: cvae COMMAND [OPTIONS]"));
  }
  if (command == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(command_name), " is no command; 'cvae --help' lists them"));
  }
  const auto rest = arguments.subspan(1);
  if (help_first || std::find(rest.begin(), rest.end(), "--help") != rest.end() ||
      std::find(rest.begin(), rest.end(), "-h") != rest.end()) {
    line.text = CommandHelp(*command);
    return line;
  }
  line.options.command = command->command;
  line.options.server = default_server;
  CVAE_RETURN_IF_ERROR(ParseOptions(rest, *command, line.options));
  CVAE_RETURN_IF_ERROR(CheckOptions(line.options));
  return line;
}

}  // namespace cvae
