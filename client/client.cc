#include "client/client.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "client/status_details.h"
#include "grpcpp/alarm.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"

namespace cvae {
namespace {

using Stub = v1::CvaeService::Stub;
using AsyncStub = v1::CvaeService::StubInterface::async_interface;

template <typename Request, typename Response>
using BlockingMethod = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

template <typename Request, typename Response>
using AsyncMethod = void (AsyncStub::*)(grpc::ClientContext*, const Request*, Response*,
                                        std::function<void(grpc::Status)>);

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

// An asynchronous call and its retries. Owned by the callback that it waits for.
template <typename Request, typename Response>
class AsyncCall : public std::enable_shared_from_this<AsyncCall<Request, Response>> {
 public:
  AsyncCall(std::shared_ptr<Stub> stub, AsyncMethod<Request, Response> method, Request request, absl::Time deadline,
            Client::Callback<Response> done)
      : stub_(std::move(stub)),
        method_(method),
        request_(std::move(request)),
        deadline_(deadline),
        done_(std::move(done)) {
    AskForData(request_);
  }

  void Start() {
    response_.Clear();
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(absl::ToChronoTime(deadline_));
    (stub_->async()->*method_)(context_.get(), &request_, &response_,
                               [self = this->shared_from_this()](grpc::Status status) { self->Finish(status); });
  }

 private:
  void Finish(const grpc::Status& grpc_status) {
    absl::Status status = FromGrpc(grpc_status);
    if (status.ok()) return done_(std::move(response_));
    const std::optional<absl::Time> retry = RetryTime(status, deadline_);
    if (!retry.has_value()) return done_(std::move(status));
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(absl::ToChronoTime(*retry), [self = this->shared_from_this()](bool) {
      self->alarm_.reset();  // it holds this callback, and so this call: no cycle may stay
      self->Start();
    });
  }

  const std::shared_ptr<Stub> stub_;
  const AsyncMethod<Request, Response> method_;
  Request request_;
  const absl::Time deadline_;
  const Client::Callback<Response> done_;
  // Touched by one callback at a time.
  Response response_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::Alarm> alarm_;
};

template <typename Request, typename Response>
void Start(std::shared_ptr<Stub> stub, AsyncMethod<Request, Response> method, Request request, absl::Time deadline,
           Client::Callback<Response> done) {
  std::make_shared<AsyncCall<Request, Response>>(std::move(stub), method, std::move(request), deadline, std::move(done))
      ->Start();
}

}  // namespace

Client::Client(const std::string& target, ClientOptions options)
    : timeout_(options.timeout), stub_(v1::CvaeService::NewStub(Connect(target, options))) {}

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
    Start<v1::Name##Request, v1::Name##Response>(stub_, &AsyncStub::Name, std::move(request), Deadline(options),      \
                                                 std::move(done));                                                    \
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
