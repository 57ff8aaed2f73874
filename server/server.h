// The server: models, queues, services, and their life from start to drain.

#ifndef CVAE_SERVER_SERVER_H_
#define CVAE_SERVER_SERVER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/engine.h"
#include "server/counters.h"
#include "server/served_model.h"
#include "server/unread.h"

namespace cvae {

struct ModelToServe {
  std::string name;
  std::unique_ptr<Engine> engine;
};

struct ServerOptions {
  std::vector<std::string> listen = {"127.0.0.1:8001"};
  int queues = 2;              // completion queues, a thread each
  int posted_calls = 16;       // calls of each method that wait on each queue
  ServedModel::Options model;  // of each model; on_fault is the server's
  UnreadAnswers::Limits unread;
  std::string client_key_header;                    // metadata that says whose a call is; empty: its host's
  int max_streams = 128;                            // calls at once on one connection
  uint64_t transport_bytes = 1ull << 30;            // that gRPC may hold for connections, all together
  std::chrono::milliseconds drain_delay{0};         // still serving after the drain began, for balancers to notice
  std::chrono::milliseconds drain_timeout{30'000};  // for accepted calls to finish
};

// Lifecycle: serving -> draining (health NOT_SERVING, calls still accepted) -> refusing (new calls UNAVAILABLE) ->
// stopped. After a fault: serving -> refusing at once, queued calls UNAVAILABLE.
class Server {
 public:
  // Starts the models' lanes, opens the ports and says SERVING. Errors name the flag that is at fault.
  static absl::StatusOr<std::unique_ptr<Server>> Start(std::vector<ModelToServe> models, ServerOptions options);

  // Stops at once, if ServeUntilStopped has not.
  virtual ~Server() = default;

  // The addresses listened on, with the real port where port 0 was asked for.
  virtual const std::vector<std::string>& addresses() const = 0;

  // Blocks until RequestStop or a device fault; drains; returns OK, or the fault. Call once.
  virtual absl::Status ServeUntilStopped() = 0;

  // What was counted until now. Thread-safe, also after ServeUntilStopped.
  virtual Counts counts() const = 0;

  // Begins the end. Thread-safe; may be called any number of times.
  virtual void RequestStop() = 0;
};

}  // namespace cvae

#endif  // CVAE_SERVER_SERVER_H_
