// The whole of the `cvae` command, apart from main().

#ifndef CVAE_CLIENT_COMMAND_COMMAND_H_
#define CVAE_CLIENT_COMMAND_COMMAND_H_

#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace cvae {

// Where a command's words go and come from.
struct Terminal {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;  // a progress bar is welcome
};

// Runs `cvae ARGUMENTS...` and returns its exit code (failure.h). `default_server` is the environment's CVAE_SERVER, or
// empty. Answers go to terminal.out, one line "cvae: ..." to terminal.err where something is wrong.
int RunCommand(const std::vector<std::string>& arguments, const std::string& default_server, const Terminal& terminal);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_COMMAND_H_
