// cvae.v1.CvaeService on completion queues: finds the model, validates, submits, answers.

#ifndef CVAE_SERVER_CVAE_SERVICE_H_
#define CVAE_SERVER_CVAE_SERVICE_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/mutex.h"
#include "cvae/v1/cvae.grpc.pb.h"
#include "server/call.h"
#include "server/counters.h"
#include "server/served_model.h"
#include "server/unread.h"

namespace cvae {

// Thread-safe.
class CvaeFrontend {
 public:
  // `models`, in the order of the flags, and `unread` outlive it. `client_key_header`: as in ClientOf.
  CvaeFrontend(const std::vector<std::unique_ptr<ServedModel>>& models, UnreadAnswers* unread,
               std::string client_key_header);
  ~CvaeFrontend();

  // To be registered with the server's builder.
  grpc::Service* service();

  // Posts `posted_calls` calls of each method on a queue.
  void Serve(grpc::ServerCompletionQueue* queue, int posted_calls);

  // From now on new calls are refused with `why`. The first reason stays.
  void Refuse(const absl::Status& why);

  // Waits until no call is being computed or `deadline`. True: there is none.
  bool WaitForCalls(std::chrono::steady_clock::time_point deadline);

  // Adds what this counts: methods, models and calls in flight.
  void AddCounts(Counts* counts) const;

 private:
  class Service;

  // The model that a request names. NOT_FOUND lists the known ones.
  absl::StatusOr<ServedModel*> Find(const std::string& name) const;

  // OK if calls of this connection are taken now.
  absl::Status Admit(const Call& call) const;

  template <class Request>
  void HandleCompute(Call& call);
  template <class Request>
  absl::Status StartCompute(Call& call);
  void HandleGetModel(Call& call);
  void HandleListModels(Call& call);

  void BeginCall();
  void EndCall();

  const std::vector<std::unique_ptr<ServedModel>>& models_;
  UnreadAnswers* const unread_;
  const std::string client_key_header_;
  const std::unique_ptr<Service> service_;
  std::vector<std::unique_ptr<Call::Method>> methods_;  // constant once made

  mutable Mutex mutex_;
  CondVar idle_;
  absl::Status refusing_ ABSL_GUARDED_BY(mutex_);
  uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;  // accepted and not answered
};

}  // namespace cvae

#endif  // CVAE_SERVER_CVAE_SERVICE_H_
