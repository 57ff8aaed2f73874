// The `cvae` command: see client/command/options.h, or `cvae --help`.

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "base/standard_streams.h"
#include "client/command/command.h"

CVAE_OPEN_STANDARD_STREAMS;

int main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // errors are told by the command, in one line
  std::signal(SIGPIPE, SIG_DFL);        // `cvae ... | head` ends as any other command does
  const char* server = std::getenv("CVAE_SERVER");
  std::ios::sync_with_stdio(false);
  return cvae::RunCommand(std::vector<std::string>(argv + 1, argv + argc), server == nullptr ? "" : server,
                          {std::cin, std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
}
