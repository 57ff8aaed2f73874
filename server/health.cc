#include "server/health.h"

#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "server/errors.h"
#include "server/tag.h"

namespace cvae {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

// Each holds a little memory for as long as its client likes.
constexpr size_t kMaxWatches = 1024;

}  // namespace

// One Check: posted, arrived, answered, deleted.
class HealthService::CheckCall {
 public:
  CheckCall(HealthService* health, grpc::ServerCompletionQueue* queue)
      : health_(health),
        queue_(queue),
        arrived_([this](bool ok) { OnArrived(ok); }),
        finished_([this](bool) { delete this; }),
        responder_(&context_) {
    health_->service_.RequestCheck(&context_, &request_, &responder_, queue_, queue_, &arrived_);
  }

 private:
  void OnArrived(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    new CheckCall(health_, queue_);
    HealthCheckResponse response;
    {
      MutexLock lock(health_->mutex_);
      response.set_status(health_->StatusOf(request_.service()));
    }
    if (response.status() == HealthCheckResponse::SERVICE_UNKNOWN) {
      responder_.FinishWithError(ToGrpcStatus(absl::NotFoundError("service: got " + Quote(request_.service()) +
                                                                  ", known are \"\" and \"cvae.v1.CvaeService\"")),
                                 &finished_);
    } else {
      responder_.Finish(response, grpc::Status::OK, &finished_);
    }
  }

  HealthService* const health_;
  grpc::ServerCompletionQueue* const queue_;
  Tag arrived_;
  Tag finished_;
  grpc::ServerContext context_;
  HealthCheckRequest request_;
  grpc::ServerAsyncResponseWriter<HealthCheckResponse> responder_;
};

// One Watch: answers the status at once and whenever it changes, one write at a time, until its client leaves or the
// server shuts down. It is deleted when it is over and no operation of its own is outstanding.
class HealthService::WatchCall {
 public:
  WatchCall(HealthService* health, grpc::ServerCompletionQueue* queue)
      : health_(health),
        queue_(queue),
        arrived_([this](bool ok) { OnArrived(ok); }),
        written_([this](bool ok) { OnWritten(ok); }),
        over_([this](bool) { OnOver(); }),
        writer_(&context_) {
    context_.AsyncNotifyWhenDone(&over_);
    health_->service_.RequestWatch(&context_, &request_, &writer_, queue_, queue_, &arrived_);
  }

  const std::string& watched() const { return request_.service(); }

  // Writes `now`, or the end, if that is news and nothing is being written. REQUIRES: health_->mutex_ is held.
  void Advance(ServingStatus now, bool ended) {
    if (busy_ || finishing_ || over_came_) return;
    if (ended || refused_) {
      finishing_ = busy_ = true;
      const HandoverThroughGrpc handover;
      writer_.Finish(
          refused_ ? ToGrpcStatus(RetryLater(absl::StrCat(kMaxWatches, " watches are open, the most there may be"),
                                             absl::Seconds(10)))
                   : grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down"),
          &written_);
      return;
    }
    if (said_anything_ && now == said_) return;
    said_anything_ = true;
    said_ = now;
    busy_ = true;
    HealthCheckResponse response;
    response.set_status(now);
    const HandoverThroughGrpc handover;
    writer_.Write(response, &written_);
  }

 private:
  void OnArrived(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    new WatchCall(health_, queue_);
    MutexLock lock(health_->mutex_);
    refused_ = health_->watches_.size() >= kMaxWatches;
    health_->watches_.insert(this);
    Advance(health_->StatusOf(watched()), health_->ended_);
  }

  void OnWritten(bool ok) {
    bool gone = false;
    {
      MutexLock lock(health_->mutex_);
      busy_ = false;
      if (!ok) finishing_ = true;  // the client left: its end follows
      if (over_came_) {
        gone = true;
        health_->watches_.erase(this);
      } else {
        Advance(health_->StatusOf(watched()), health_->ended_);
      }
    }
    if (gone) delete this;
  }

  void OnOver() {
    bool gone = false;
    {
      MutexLock lock(health_->mutex_);
      over_came_ = true;
      gone = !busy_;
      if (gone) health_->watches_.erase(this);
    }
    if (gone) delete this;
  }

  HealthService* const health_;
  grpc::ServerCompletionQueue* const queue_;
  Tag arrived_;
  Tag written_;
  Tag over_;
  grpc::ServerContext context_;
  HealthCheckRequest request_;
  grpc::ServerAsyncWriter<HealthCheckResponse> writer_;

  // Guarded by health_->mutex_.
  bool busy_ = false;       // a write or the finish is outstanding
  bool finishing_ = false;  // nothing is to be written any more
  bool over_came_ = false;  // gRPC has said that the call is over
  bool refused_ = false;
  bool said_anything_ = false;
  ServingStatus said_ = HealthCheckResponse::UNKNOWN;
};

void HealthService::Serve(grpc::ServerCompletionQueue* queue) {
  new CheckCall(this, queue);
  new WatchCall(this, queue);
}

void HealthService::SetServing(bool serving) {
  MutexLock lock(mutex_);
  serving_ = serving;
  TellWatches();
}

bool HealthService::serving() const {
  MutexLock lock(mutex_);
  return serving_;
}

void HealthService::EndWatches() {
  MutexLock lock(mutex_);
  ended_ = true;
  TellWatches();
}

void HealthService::TellWatches() {
  for (WatchCall* watch : watches_) watch->Advance(StatusOf(watch->watched()), ended_);
}

HealthService::ServingStatus HealthService::StatusOf(const std::string& service) const {
  if (!service.empty() && service != "cvae.v1.CvaeService") return HealthCheckResponse::SERVICE_UNKNOWN;
  return serving_ ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace cvae
