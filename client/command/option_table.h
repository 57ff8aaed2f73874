// Every option of every command: the table that both the parser and the help read.

#ifndef CVAE_CLIENT_COMMAND_OPTION_TABLE_H_
#define CVAE_CLIENT_COMMAND_OPTION_TABLE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/command/options.h"

namespace cvae {

struct OptionSpec {
  const char* group;  // heading in the help
  const char* name;   // "labels"
  const char* value;  // "LIST|FILE|@NAME"; empty: a switch, which takes no value
  unsigned commands;  // CommandBit of each that takes it
  const char* help;   // one line or several
  std::function<absl::Status(Options&, const std::string& value)> set;
};

struct CommandSpec {
  Command command;
  const char* name;
  const char* summary;   // one line
  const char* examples;  // lines
};

constexpr unsigned CommandBit(Command command) { return 1u << static_cast<unsigned>(command); }

const std::vector<OptionSpec>& OptionTable();
const std::vector<CommandSpec>& CommandTable();

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_OPTION_TABLE_H_
