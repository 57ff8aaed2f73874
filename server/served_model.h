// One model being served: its engine, its queue and its lanes.

#ifndef CVAE_SERVER_SERVED_MODEL_H_
#define CVAE_SERVER_SERVED_MODEL_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/engine.h"
#include "server/batcher.h"
#include "server/model_facts.h"

namespace cvae {

// Thread-safe. Lifecycle: serving -> stopped; never back.
class ServedModel {
 public:
  struct Options {
    int lanes = 2;             // on each device of the engine
    Batcher::Options batcher;  // its number of lanes is set from this
    CallLimits limits;
    std::function<void(const absl::Status&)> on_fault;  // a lane's engine failed; called on that lane's thread
  };

  // Makes the lanes' sessions, runs one batch on each so that the first call meets warm memory, and starts their
  // threads.
  static absl::StatusOr<std::unique_ptr<ServedModel>> Start(std::string name, std::unique_ptr<Engine> engine,
                                                            Options options);

  // Stops.
  ~ServedModel();

  const ModelFacts& facts() const { return facts_; }
  const EngineInfo& engine_info() const { return engine_info_; }

  // As Batcher::Submit.
  absl::Status Submit(Job* job) { return batcher_.Submit(job); }

  // Its client has given the job up: what is not launched will not be. The job must be alive.
  void Cancel(Job* job);

  // Settles what waits with this error and refuses new jobs with it; what runs goes on.
  void FailQueue(const absl::Status& error) { batcher_.FailAll(error); }

  // Refuses new jobs, computes those accepted, and joins the lanes. Idempotent; one thread at a time.
  void Stop();

  QueueCounts counts() const { return batcher_.counts(); }

 private:
  ServedModel(ModelFacts facts, std::unique_ptr<Engine> engine, Options options);

  void RunLane(Session& session);
  // Gathers and computes a batch, and settles every piece of it. How long it computed.
  std::chrono::nanoseconds RunBatch(const std::vector<Piece>& batch, Session& session);

  const ModelFacts facts_;
  const std::function<void(const absl::Status&)> on_fault_;
  const std::unique_ptr<Engine> engine_;
  const EngineInfo engine_info_;
  std::vector<std::unique_ptr<Session>> sessions_;  // a lane each; constant once started
  Batcher batcher_;
  std::vector<std::thread> threads_;  // the lanes and the watch; Start's and Stop's; last, since they use all above
};

}  // namespace cvae

#endif  // CVAE_SERVER_SERVED_MODEL_H_
