// grpc.health.v1.Health on our completion queues: Check and Watch, truthful. gRPC's own runs on its callback API, which
// costs every call latency, and says SERVING from the moment the port is open.

#ifndef CVAE_SERVER_HEALTH_H_
#define CVAE_SERVER_HEALTH_H_

#include <string>
#include <unordered_set>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/support/async_unary_call.h"

namespace cvae {

// Knows the services "" (the whole server) and "cvae.v1.CvaeService". Thread-safe.
class HealthService {
 public:
  using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;
  using AsyncService = grpc::health::v1::Health::AsyncService;

  HealthService() = default;
  // REQUIRES: the queues have been drained.
  ~HealthService() = default;

  // To be registered with the server's builder.
  AsyncService* service() { return &service_; }

  // Posts calls on a queue; once for each.
  void Serve(grpc::ServerCompletionQueue* queue);

  // Says so from now on, and tells every watcher. Starts as NOT_SERVING.
  void SetServing(bool serving);
  bool serving() const;

  // Ends every Watch with UNAVAILABLE and takes no new one: the server shuts down.
  void EndWatches();

 private:
  class CheckCall;
  class WatchCall;

  // What a service's status is; SERVICE_UNKNOWN for one that is not ours.
  ServingStatus StatusOf(const std::string& service) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void TellWatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  AsyncService service_;
  mutable Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::unordered_set<WatchCall*> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cvae

#endif  // CVAE_SERVER_HEALTH_H_
