// cvae-server: flags in, models loaded and proven, a server until SIGTERM or SIGINT.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/standard_streams.h"
#include "base/status_macros.h"
#include "google/protobuf/stubs/logging.h"
#include "grpc/support/log.h"
#include "kernels/model/model.h"
#include "kernels/probe.h"
#include "server/flags.h"
#include "server/server.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace cvae {
namespace {

void StartLog(const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("cvae-server"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  spdlog::set_level(spdlog::level::from_str(level));
  // gRPC's own lines are for its developers; what users need to know is said by us.
  gpr_set_log_function([](gpr_log_func_args* args) { spdlog::debug("grpc: {}", args->message); });
  // Protobuf's are of what callers send: they get an error for it.
  google::protobuf::SetLogHandler([](google::protobuf::LogLevel, const char*, int, const std::string& message) {
    spdlog::debug("protobuf: {}", message);
  });
}

// Said once, whatever the number of models.
void LogFallback(const std::string& reason) {
  static bool said = false;
  if (!said && !reason.empty()) spdlog::warn("--engine=auto: SERVING ON THE CPU: {}", reason);
  said |= !reason.empty();
}

absl::StatusOr<ModelToServe> Load(const ModelFlag& flag, const EngineChoice& choice) {
  CVAE_ASSIGN_OR_RETURN(Model loaded, LoadModel(flag.path));
  const auto model = std::make_shared<const Model>(std::move(loaded));
  ModelToServe served;
  served.name = !flag.name.empty()     ? flag.name
                : !model->name.empty() ? model->name
                                       : std::filesystem::path(flag.path).stem().string();
  CVAE_ASSIGN_OR_RETURN(ChosenEngine chosen, ChooseEngine(model, choice));
  LogFallback(chosen.fallback);
  served.engine = std::move(chosen.engine);
  if (absl::Status status = ReplayProbe(*served.engine); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(flag.path, ": ", status.message()));
  }
  const EngineInfo info = served.engine->Describe();
  spdlog::info("model {}: {} D={} L={} Z={} O={} on {} ({}), {}{}{}", served.name, flag.path, model->input_width,
               model->condition_width, model->latent_width, model->output_width, info.engine, info.device,
               info.precision, info.plan.empty() ? "" : "; ", info.plan);
  return served;
}

void LogMemory(const Configuration& configuration) {
  const ServerOptions& server = configuration.server;
  const uint64_t mib = 1 << 20;
  spdlog::info(
      "memory at worst: waiting calls {} MiB a model, unread answers {} MiB and one answer a connection, gRPC {} MiB",
      server.model.batcher.scheduler.max_queue_bytes / mib, server.unread.total_bytes / mib,
      server.transport_bytes / mib);
}

// Asks the server to stop at the first SIGTERM or SIGINT; ends the process at the second.
void WatchSignals(const sigset_t& signals, Server* server) {
  std::thread([signals, server] {
    int signal = 0;
    sigwait(&signals, &signal);
    spdlog::info("{}: draining; once more ends at once", signal == SIGINT ? "SIGINT" : "SIGTERM");
    server->RequestStop();
    sigwait(&signals, &signal);
    _exit(128 + signal);
  }).detach();
}

absl::Status Serve(int argc, char** argv) {
  CVAE_ASSIGN_OR_RETURN(Configuration configuration, ParseFlags(argc, argv));
  StartLog(configuration.log_level);
  // Blocked in every thread to come: one of ours waits for them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  spdlog::info("{}", EffectiveFlags());
  LogMemory(configuration);
  std::vector<ModelToServe> models;
  for (const ModelFlag& flag : configuration.models) {
    CVAE_ASSIGN_OR_RETURN(ModelToServe model, Load(flag, configuration.engine));
    models.push_back(std::move(model));
  }
  CVAE_ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::Start(std::move(models), configuration.server));
  // Never destroyed: the signal thread may use it until the process ends.
  Server* const serving = server.release();
  WatchSignals(signals, serving);
  for (const std::string& address : serving->addresses()) spdlog::info("listening on {}", address);
  const absl::Status status = serving->ServeUntilStopped();
  for (const std::string& line : Describe(serving->counts())) spdlog::info("{}", line);
  if (status.ok()) spdlog::info("stopped");
  return status;
}

}  // namespace
}  // namespace cvae

CVAE_OPEN_STANDARD_STREAMS;

int main(int argc, char** argv) {
  const absl::Status status = cvae::Serve(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "cvae-server: %s\n", std::string(status.message()).c_str());
  return 1;
}
