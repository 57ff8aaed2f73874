// The server's flags, each declared once, in flags.cc, with its unit, default, range and consequence.

#ifndef CVAE_SERVER_FLAGS_H_
#define CVAE_SERVER_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/choose_engine.h"
#include "server/server.h"

namespace cvae {

// --model=[NAME=]PATH
struct ModelFlag {
  std::string name;  // empty: the description's, else the file's stem
  std::string path;
};

// What the command line asks for, checked.
struct Configuration {
  std::vector<ModelFlag> models;
  EngineChoice engine;
  std::string log_level;
  ServerOptions server;
};

// Parses the command line. Ends the process, with one line, for --help or a flag that absl cannot parse;
// INVALID_ARGUMENT names the flag for a value out of range.
absl::StatusOr<Configuration> ParseFlags(int argc, char** argv);

// Every flag with its effective value, "--listen=127.0.0.1:8001 --queues=2 ...".
std::string EffectiveFlags();

}  // namespace cvae

#endif  // CVAE_SERVER_FLAGS_H_
