#include "server/flags.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "kernels/cpu/engine.h"

namespace {

// The values of a flag that may be given several times. absl keeps the last value alone, so they are joined before it
// parses.
struct Repeated {
  std::vector<std::string> values;
};

constexpr char kJoin = '\n';

bool AbslParseFlag(absl::string_view text, Repeated* flag, std::string* /*error*/) {
  flag->values = absl::StrSplit(text, kJoin, absl::SkipEmpty());
  return true;
}

std::string AbslUnparseFlag(const Repeated& flag) { return absl::StrJoin(flag.values, absl::string_view(&kJoin, 1)); }

}  // namespace

// --- What is served, and what callers get.

ABSL_FLAG(Repeated, model, {},
          "[NAME=]PATH of a safetensors file to serve; repeatable, at least one. NAME: what requests call it; else the "
          "description's name, else the file's stem.");
ABSL_FLAG(Repeated, listen, {{"127.0.0.1:8001"}},
          "Address to listen on, HOST:PORT, [IPV6]:PORT or unix:PATH; repeatable. Loopback unless told otherwise: "
          "there is no "
          "encryption and no authentication. Port 0: a free one, logged.");
ABSL_FLAG(std::string, engine, "auto",
          "cuda, cpu, or auto: a GPU if there is one, else the CPU, and says so. The answers are the same.");
ABSL_FLAG(std::string, precision, "fp32", "fp32: the same bits on every engine. The CPU engine has no other.");
ABSL_FLAG(int, max_request_mib, 64, "[1, 1024] Largest request message. A larger one is RESOURCE_EXHAUSTED, by gRPC.");
ABSL_FLAG(int, max_rows, 1 << 20, "[1, 2^26] Most computed rows of a call, rows * samples. More is INVALID_ARGUMENT.");
ABSL_FLAG(int, max_answer_mib, 256, "[1, 1024] Largest answer. A call that asks for more is INVALID_ARGUMENT.");
ABSL_FLAG(std::string, client_key_header, "",
          "Metadata key that says which client a call is of, for even shares; only behind a proxy that sets it itself. "
          "Else a client is its host, or on a Unix path its connection.");
ABSL_FLAG(
    int, max_queue_ms, 30000,
    "[1, 3600000] A call without a deadline that has not begun by then is RESOURCE_EXHAUSTED; so is, at once, any "
    "call whose time will probably not suffice.");
ABSL_FLAG(int, drain_delay_ms, 0,
          "[0, 600000] After SIGTERM, still serve this long while health says NOT_SERVING, for balancers to notice.");
ABSL_FLAG(int, drain_timeout_ms, 30000, "[0, 3600000] Then let accepted calls finish for at most this long.");
ABSL_FLAG(std::string, log_level, "info", "debug, info, warning or error. No payload is ever logged.");

// --- What costs memory and time; no answer depends on these.

ABSL_FLAG(int, threads, 0, "[0, 1024] Threads of the CPU engine. 0: as many as affinity and the cgroup's quota allow.");
ABSL_FLAG(std::string, gpus, "all", "all, or GPUs by index or UUID, separated by commas. Each holds every model.");
ABSL_FLAG(
    std::string, gpu_form, "auto",
    "Kernels of the CUDA engine: few, tile (one launch; few or many rows a block), layered (a launch a stage), or "
    "auto: by rows and what fits. For measurements.");
ABSL_FLAG(int, lanes, 2,
          "[1, 64] Batches at once, of each model on each GPU. More overlap copying with computing and take memory.");
ABSL_FLAG(int, max_batch_rows, 4096,
          "[1, 2^20] Most rows of a batch; a larger call goes in pieces. Memory is lanes * this.");
ABSL_FLAG(int, linger_us, 0,
          "[0, 1000000] That a batch with room left waits for more calls. 0: an idle lane never waits.");
ABSL_FLAG(int, max_queue_rows, 1 << 21,
          "[1, 2^28] Rows that may wait, of each model; beyond it RESOURCE_EXHAUSTED. At least --max_rows.");
ABSL_FLAG(
    int, max_queue_mib, 1024,
    "[1, 2^20] Bytes of waiting calls, their answers included, of each model; beyond it RESOURCE_EXHAUSTED. At least "
    "--max_request_mib plus --max_answer_mib.");
ABSL_FLAG(int, max_unread_connection_mib, 256,
          "[1, 2^20] Answers that one connection may leave unread; beyond it its new calls are RESOURCE_EXHAUSTED.");
ABSL_FLAG(int, max_unread_mib, 1024, "[1, 2^20] The same for all; beyond it for connections with anything unread.");
ABSL_FLAG(int, max_streams, 128,
          "[1, 2^20] Calls at once on one connection; gRPC lets the next ones wait at the client.");
ABSL_FLAG(int, transport_mib, 1024, "[16, 2^20] Memory that gRPC may hold for connections and messages not yet taken.");
ABSL_FLAG(int, queues, 0, "[0, 64] Completion queues, a thread each. 0: as many as usable processors, at most 8.");
ABSL_FLAG(int, posted_calls, 16, "[1, 1024] Calls of each method that wait on each queue for one to come.");

namespace cvae {
namespace {

absl::Status OutOfRange(absl::string_view flag, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": got ", got, ", expected ", expected));
}

// "--NAME=a --NAME b" -> "--NAME=a\nb", for flags that may be repeated.
absl::StatusOr<std::vector<std::string>> JoinRepeated(int argc, char** argv, const std::vector<std::string>& names) {
  std::vector<std::string> arguments;
  std::map<std::string, std::vector<std::string>> values;
  for (int i = 0; i < argc; ++i) {
    const std::string argument = argv[i];
    bool taken = false;
    for (const std::string& name : names) {
      for (const std::string& dashes : {"--" + name, "-" + name}) {
        if (taken) break;
        if (absl::StartsWith(argument, dashes + "=")) {
          values[name].push_back(argument.substr(dashes.size() + 1));
          taken = true;
        } else if (argument == dashes) {
          if (i + 1 == argc || argv[i + 1][0] == '-') return OutOfRange(name, "nothing", "a value after it");
          values[name].push_back(argv[++i]);
          taken = true;
        }
      }
    }
    if (!taken) arguments.push_back(argument);
  }
  for (const auto& [name, given] : values) {
    arguments.insert(arguments.begin() + std::min<size_t>(1, arguments.size()),
                     absl::StrCat("--", name, "=", absl::StrJoin(given, std::string(1, kJoin))));
  }
  return arguments;
}

// The value of a flag in [low, high]; else the first such error stays in `error`.
int64_t InRange(const absl::Flag<int>& flag, absl::string_view name, int64_t low, int64_t high, absl::Status* error) {
  const int64_t value = absl::GetFlag(flag);
  if ((value < low || value > high) && error->ok()) {
    *error = OutOfRange(name, absl::StrCat(value), absl::StrCat(low, " to ", high));
  }
  return value;
}

absl::Status OneOf(absl::string_view name, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return absl::OkStatus();
  return OutOfRange(name, Quote(value), absl::StrJoin(known, ", "));
}

// As HTTP/2 has them: nothing else can arrive.
absl::Status CheckMetadataKey(absl::string_view flag, const std::string& key) {
  constexpr char kLegal[] = "0123456789abcdefghijklmnopqrstuvwxyz-_.";
  if (key.find_first_not_of(kLegal) == std::string::npos) return absl::OkStatus();
  return OutOfRange(flag, Quote(key), "lower-case letters, digits, - _ and .");
}

// NAME=PATH, where NAME has no slash; else all of it is the path.
absl::StatusOr<ModelFlag> ParseModelFlag(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || text.find('/') < equals) return ModelFlag{"", text};
  if (equals == 0 || equals + 1 == text.size()) return OutOfRange("model", Quote(text), "[NAME=]PATH");
  return ModelFlag{text.substr(0, equals), text.substr(equals + 1)};
}

#define CVAE_IN_RANGE(name, low, high) InRange(FLAGS_##name, #name, low, high, &error)

absl::StatusOr<ServerOptions> ReadServerOptions() {
  absl::Status error;
  ServerOptions options;
  options.listen = absl::GetFlag(FLAGS_listen).values;
  options.queues = static_cast<int>(CVAE_IN_RANGE(queues, 0, 64));
  if (options.queues == 0) options.queues = std::min(UsableCpus(), 8);
  options.posted_calls = static_cast<int>(CVAE_IN_RANGE(posted_calls, 1, 1024));
  options.max_streams = static_cast<int>(CVAE_IN_RANGE(max_streams, 1, 1 << 20));
  options.transport_bytes = CVAE_IN_RANGE(transport_mib, 16, 1 << 20) << 20;
  options.drain_delay = std::chrono::milliseconds(CVAE_IN_RANGE(drain_delay_ms, 0, 600'000));
  options.drain_timeout = std::chrono::milliseconds(CVAE_IN_RANGE(drain_timeout_ms, 0, 3'600'000));
  options.unread.connection_bytes = CVAE_IN_RANGE(max_unread_connection_mib, 1, 1 << 20) << 20;
  options.unread.total_bytes = CVAE_IN_RANGE(max_unread_mib, 1, 1 << 20) << 20;
  CallLimits& limits = options.model.limits;
  limits.request_bytes = CVAE_IN_RANGE(max_request_mib, 1, 1024) << 20;
  limits.rows = CVAE_IN_RANGE(max_rows, 1, 1 << 26);
  limits.answer_bytes = CVAE_IN_RANGE(max_answer_mib, 1, 1024) << 20;
  options.model.lanes = static_cast<int>(CVAE_IN_RANGE(lanes, 1, 64));
  Scheduler::Options& queue = options.model.batcher.scheduler;
  queue.max_batch_rows = CVAE_IN_RANGE(max_batch_rows, 1, 1 << 20);
  queue.max_queue_rows = CVAE_IN_RANGE(max_queue_rows, 1, 1 << 28);
  queue.max_queue_bytes = CVAE_IN_RANGE(max_queue_mib, 1, 1 << 20) << 20;
  queue.max_queue_time = std::chrono::milliseconds(CVAE_IN_RANGE(max_queue_ms, 1, 3'600'000));
  queue.linger = std::chrono::microseconds(CVAE_IN_RANGE(linger_us, 0, 1'000'000));
  options.client_key_header = absl::GetFlag(FLAGS_client_key_header);
  CVAE_RETURN_IF_ERROR(error);
  CVAE_RETURN_IF_ERROR(CheckMetadataKey("client_key_header", options.client_key_header));
  if (options.listen.empty()) return OutOfRange("listen", "none", "at least one address");
  if (queue.max_queue_rows < limits.rows) {
    return OutOfRange("max_queue_rows", absl::StrCat(queue.max_queue_rows),
                      absl::StrCat("at least --max_rows, ", limits.rows));
  }
  if (queue.max_queue_bytes < limits.request_bytes + limits.answer_bytes) {
    return OutOfRange("max_queue_mib", absl::StrCat(queue.max_queue_bytes >> 20),
                      absl::StrCat("at least --max_request_mib plus --max_answer_mib, ",
                                   (limits.request_bytes + limits.answer_bytes) >> 20));
  }
  return options;
}

absl::StatusOr<Configuration> ReadFlags() {
  absl::Status error;
  Configuration configuration;
  for (const std::string& text : absl::GetFlag(FLAGS_model).values) {
    CVAE_ASSIGN_OR_RETURN(ModelFlag model, ParseModelFlag(text));
    configuration.models.push_back(std::move(model));
  }
  if (configuration.models.empty())
    return OutOfRange("model", "none", "at least one [NAME=]PATH of a safetensors file");
  EngineChoice& engine = configuration.engine;
  engine.engine = absl::GetFlag(FLAGS_engine);
  CVAE_RETURN_IF_ERROR(OneOf("engine", engine.engine, {"auto", "cuda", "cpu"}));
  engine.gpus = absl::GetFlag(FLAGS_gpus);
  engine.gpu_form = absl::GetFlag(FLAGS_gpu_form);
  CVAE_RETURN_IF_ERROR(OneOf("gpu_form", engine.gpu_form, {"auto", "few", "tile", "layered"}));
  engine.threads = static_cast<int>(CVAE_IN_RANGE(threads, 0, 1024));
  CVAE_RETURN_IF_ERROR(OneOf("precision", absl::GetFlag(FLAGS_precision), {"fp32"}));
  configuration.log_level = absl::GetFlag(FLAGS_log_level);
  CVAE_RETURN_IF_ERROR(OneOf("log_level", configuration.log_level, {"debug", "info", "warning", "error"}));
  CVAE_RETURN_IF_ERROR(error);
  CVAE_ASSIGN_OR_RETURN(configuration.server, ReadServerOptions());
  return configuration;
}

#undef CVAE_IN_RANGE

bool IsOurs(absl::string_view file) { return absl::EndsWith(file, "server/flags.cc"); }

}  // namespace

absl::StatusOr<Configuration> ParseFlags(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Serves conditional variational autoencoders over gRPC.\n\n"
      "  cvae-server --model=digits.safetensors --listen=127.0.0.1:8001");
  absl::FlagsUsageConfig usage;
  usage.contains_help_flags = usage.contains_helpshort_flags = usage.contains_helppackage_flags = IsOurs;
  usage.version_string = [] { return std::string("cvae-server 0.1.0\n"); };
  absl::SetFlagsUsageConfig(usage);

  CVAE_ASSIGN_OR_RETURN(std::vector<std::string> arguments, JoinRepeated(argc, argv, {"model", "listen"}));
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  const std::vector<char*> rest = absl::ParseCommandLine(static_cast<int>(pointers.size()), pointers.data());
  if (rest.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("got the argument ", Quote(rest[1]), ", expected flags only; see --help"));
  }
  return ReadFlags();
}

std::string EffectiveFlags() {
  std::map<std::string, std::string> values;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (IsOurs(flag->Filename())) values[std::string(name)] = flag->CurrentValue();
  }
  std::string line;
  for (const auto& [name, value] : values) {
    for (const auto& one : absl::StrSplit(value, kJoin))
      absl::StrAppend(&line, line.empty() ? "" : " ", "--", name, "=", one);
  }
  return line;
}

}  // namespace cvae
