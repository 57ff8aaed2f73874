#include "client/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "base/mutex.h"
#include "client/async_calls.h"
#include "client/status_details.h"
#include "grpcpp/alarm.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/async_unary_call.h"

namespace cvae {
namespace {

using Stub = v1::CvaeService::Stub;

template <typename Request, typename Response>
using BlockingMethod = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

template <typename Request, typename Response>
using AsyncMethod = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*)(grpc::ClientContext*,
                                                                                         const Request&,
                                                                                         grpc::CompletionQueue*);

bool IsLoopback(const std::string& target) {
  return absl::StartsWith(target, "localhost:") || absl::StartsWith(target, "127.") ||
         absl::StartsWith(target, "[::1]:");
}

std::shared_ptr<grpc::Channel> Connect(const std::string& target, const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // stock gRPC refuses answers over 4 MiB
  arguments.SetMaxSendMessageSize(-1);
  // A machine with http_proxy set means other hosts by it, not itself.
  if (IsLoopback(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      target, options.credentials ? options.credentials : grpc::InsecureChannelCredentials(), arguments);
}

// Answers as data, unless the caller said otherwise.
template <typename Request>
void AskForData(Request& request) {
  if constexpr (requires { request.encoding(); }) {
    if (request.encoding() == v1::Matrix::AUTO) request.set_encoding(v1::Matrix::DATA);
  }
}

// When to send a failed call again; none: never.
std::optional<absl::Time> RetryTime(const absl::Status& status, absl::Time deadline) {
  const std::optional<absl::Duration> delay = RetryDelay(status);
  if (!delay.has_value()) return std::nullopt;
  const absl::Time time = absl::Now() + std::max(*delay, absl::Milliseconds(1));  // a hint of 0 must not spin
  return time < deadline ? std::optional(time) : std::nullopt;
}

template <typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub, BlockingMethod<Request, Response> method, Request request,
                              absl::Time deadline) {
  AskForData(request);
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline));
    Response response;
    absl::Status status = FromGrpc((stub.*method)(&context, request, &response));
    if (status.ok()) return response;
    const std::optional<absl::Time> retry = RetryTime(status, deadline);
    if (!retry.has_value()) return status;
    absl::SleepFor(*retry - absl::Now());
  }
}

// An asynchronous call and its retries. It is sent from the queue's thread, when an alarm rings, at once or for a
// retry: so all that is gRPC's happens on one thread (and ThreadSanitizer, blind to what gRPC does inside, can follow).
template <typename Request, typename Response>
class AsyncCall : public AsyncCalls::Call {
 public:
  AsyncCall(Stub* stub, grpc::CompletionQueue* queue, AsyncMethod<Request, Response> method, Request request,
            absl::Time deadline, Client::Callback<Response> done)
      : stub_(stub),
        queue_(queue),
        method_(method),
        request_(std::move(request)),
        deadline_(deadline),
        done_(std::move(done)) {
    AskForData(request_);
  }

  void Start() override { SetAlarm(absl::Now()); }

  bool Advance() override {
    if (AlarmRang()) {
      Send();
      return true;
    }
    reader_.reset();
    absl::Status status = FromGrpc(status_);
    if (status.ok()) {
      done_(std::move(response_));
      return false;
    }
    const std::optional<absl::Time> retry = RetryTime(status, deadline_);
    if (retry.has_value()) {
      SetAlarm(*retry);
      return true;
    }
    done_(std::move(status));
    return false;
  }

  void Cancel() override {
    MutexLock lock(mutex_);
    cancelled_ = true;
    if (context_ != nullptr) context_->TryCancel();
    alarm_.Cancel();
  }

 private:
  void SetAlarm(absl::Time time) {
    MutexLock lock(mutex_);
    waits_for_alarm_ = true;
    alarm_.Set(queue_, absl::ToChronoTime(cancelled_ ? absl::Now() : time), this);  // what is sent then says CANCELLED
  }

  // Was the event the alarm's?
  bool AlarmRang() {
    MutexLock lock(mutex_);
    return std::exchange(waits_for_alarm_, false);
  }

  void Send() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(absl::ToChronoTime(deadline_));
    grpc::ClientContext* const raw = context.get();
    {
      MutexLock lock(mutex_);
      context_ = std::move(context);
      if (cancelled_) raw->TryCancel();
    }
    reader_ = (stub_->*method_)(raw, request_, queue_);
    reader_->Finish(&response_, &status_, this);
  }

  Stub* const stub_;
  grpc::CompletionQueue* const queue_;
  const AsyncMethod<Request, Response> method_;
  Request request_;
  const absl::Time deadline_;
  const Client::Callback<Response> done_;

  // What other threads touch too: Start and Cancel.
  Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool waits_for_alarm_ ABSL_GUARDED_BY(mutex_) = false;  // its event in the queue is the alarm's, not the answer
  std::unique_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
  grpc::Alarm alarm_ ABSL_GUARDED_BY(mutex_);

  // The queue's thread's alone.
  Response response_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
};

}  // namespace

Client::Client(const std::string& target, ClientOptions options)
    : timeout_(options.timeout),
      stub_(v1::CvaeService::NewStub(Connect(target, options))),
      calls_(std::make_unique<AsyncCalls>()) {}

Client::~Client() = default;

absl::Time Client::Deadline(const CallOptions& options) const {
  return absl::Now() + options.timeout.value_or(timeout_);
}

// Both forms of one RPC.
#define CVAE_RPC(Name)                                                                                                \
  absl::StatusOr<v1::Name##Response> Client::Name(v1::Name##Request request, CallOptions options) const {             \
    return Call<v1::Name##Request, v1::Name##Response>(*stub_, &Stub::Name, std::move(request), Deadline(options));   \
  }                                                                                                                   \
  void Client::Name##Async(v1::Name##Request request, Callback<v1::Name##Response> done, CallOptions options) const { \
    calls_->Add(std::make_unique<AsyncCall<v1::Name##Request, v1::Name##Response>>(                                   \
        stub_.get(), &calls_->queue(), &Stub::Async##Name, std::move(request), Deadline(options), std::move(done)));  \
  }

CVAE_RPC(Encode)
CVAE_RPC(Reconstruct)
CVAE_RPC(Loss)
CVAE_RPC(Decode)
CVAE_RPC(Generate)
CVAE_RPC(GetModel)
CVAE_RPC(ListModels)
#undef CVAE_RPC

}  // namespace cvae
