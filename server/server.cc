#include "server/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "server/cvae_service.h"
#include "server/health.h"
#include "server/listen.h"
#include "server/tag.h"

namespace cvae {
namespace {

using Clock = std::chrono::steady_clock;

// A client that neither reads nor answers pings is gone after these two.
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// gRPC closes a connection that sends more with one call, and with it the other calls of a proxy's connection, which
// many clients share: what proxies let through (Envoy 60 KiB) must pass.
constexpr int kMaxMetadataBytes = 64 << 10;
// Clients may ping this often.
constexpr int kMinPingIntervalMs = 10'000;

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(ServerOptions options) : options_(std::move(options)), unread_(options_.unread) {}
  ~ServerImpl() override { Shutdown(Clock::now()); }

  absl::Status StartModels(std::vector<ModelToServe> models);
  absl::Status OpenPorts();

  const std::vector<std::string>& addresses() const override { return addresses_; }
  absl::Status ServeUntilStopped() override;
  Counts counts() const override;
  void RequestStop() override;

 private:
  void OnFault(const absl::Status& fault);
  absl::Status AddPort(const std::string& text, grpc::ServerBuilder* builder);
  void ConfigureTransport(grpc::ServerBuilder* builder) const;
  // Sleeps until `deadline` or a fault.
  void SleepUnlessFault(Clock::time_point deadline);
  // Ends calls, queues and lanes; those that are not answered by `deadline` are cancelled. Idempotent.
  void Shutdown(Clock::time_point deadline);

  const ServerOptions options_;
  UnreadAnswers unread_;
  HealthService health_;
  std::vector<std::unique_ptr<ServedModel>> models_;  // constant once started
  std::unique_ptr<CvaeFrontend> frontend_;
  std::vector<std::unique_ptr<UnixPathClaim>> unix_claims_;
  std::vector<ListenAddress> listen_;
  std::vector<int> ports_;  // an address each, written by gRPC
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues_;
  std::unique_ptr<grpc::Server> server_;

  Mutex mutex_;
  CondVar changed_;
  bool stop_requested_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);

  std::vector<std::thread> threads_;  // a queue each; last, since they use everything above
};

// Requests must be able to say it, and logs and messages to show it.
absl::Status CheckModelName(const std::string& name) {
  constexpr size_t kMaxSize = 256;
  const bool control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!name.empty() && name.size() <= kMaxSize && !control && IsUtf8(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--model: got the name ", Quote(name), ", expected 1 to ", kMaxSize,
                   " bytes of UTF-8 without control characters; --model=NAME=PATH names it"));
}

absl::Status ServerImpl::StartModels(std::vector<ModelToServe> models) {
  for (ModelToServe& model : models) {
    CVAE_RETURN_IF_ERROR(CheckModelName(model.name));
    for (const std::unique_ptr<ServedModel>& other : models_) {
      if (other->facts().name == model.name) {
        return absl::InvalidArgumentError(
            absl::StrCat("--model: two models are named ", Quote(model.name), "; name one with --model=NAME=PATH"));
      }
    }
    ServedModel::Options options = options_.model;
    options.on_fault = [this](const absl::Status& fault) { OnFault(fault); };
    CVAE_ASSIGN_OR_RETURN(std::unique_ptr<ServedModel> served,
                          ServedModel::Start(std::move(model.name), std::move(model.engine), std::move(options)));
    models_.push_back(std::move(served));
  }
  return absl::OkStatus();
}

void ServerImpl::ConfigureTransport(grpc::ServerBuilder* builder) const {
  builder->SetMaxReceiveMessageSize(static_cast<int>(options_.model.limits.request_bytes));
  builder->SetMaxSendMessageSize(-1);
  // gRPC inflates before it checks a size: half a megabyte can become 500.
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options_.max_streams);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers would silently share a port
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinPingIntervalMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  grpc::ResourceQuota quota("cvae-server");
  quota.Resize(options_.transport_bytes);
  builder->SetResourceQuota(quota);
}

absl::Status ServerImpl::AddPort(const std::string& text, grpc::ServerBuilder* builder) {
  CVAE_ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress(text));
  for (const ListenAddress& other : listen_) {
    if (other.text == text && !absl::EndsWith(text, ":0")) {
      return absl::InvalidArgumentError(absl::StrCat("--listen: got ", Quote(text), " twice"));
    }
  }
  if (!address.unix_path.empty()) {
    CVAE_ASSIGN_OR_RETURN(std::unique_ptr<UnixPathClaim> claim, UnixPathClaim::Take(address.unix_path));
    unix_claims_.push_back(std::move(claim));
  } else if (const std::string why = WhyNotBindable(address); !why.empty()) {
    return absl::UnavailableError(absl::StrCat("--listen: cannot listen on ", text, ": ", why));
  }
  builder->AddListeningPort(GrpcAddress(address), grpc::InsecureServerCredentials(), &ports_[listen_.size()]);
  listen_.push_back(std::move(address));
  return absl::OkStatus();
}

absl::Status ServerImpl::OpenPorts() {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  ConfigureTransport(&builder);
  ports_.assign(options_.listen.size(), 0);
  for (const std::string& text : options_.listen) CVAE_RETURN_IF_ERROR(AddPort(text, &builder));

  frontend_ = std::make_unique<CvaeFrontend>(models_, &unread_, options_.client_key_header);
  builder.RegisterService(frontend_->service());
  builder.RegisterService(health_.service());
  for (int i = 0; i < options_.queues; ++i) queues_.push_back(builder.AddCompletionQueue());
  server_ = builder.BuildAndStart();
  for (size_t i = 0; i < listen_.size(); ++i) {
    if (server_ == nullptr || ports_[i] == 0) {
      return absl::UnavailableError(absl::StrCat("--listen: cannot listen on ", listen_[i].text));
    }
    const std::string& text = listen_[i].text;
    addresses_.push_back(listen_[i].unix_path.empty() ? absl::StrCat(text.substr(0, text.rfind(':') + 1), ports_[i])
                                                      : text);
  }
  // Weights are resident and warm. Said before the first call is taken, so that no fault is overwritten.
  health_.SetServing(true);
  for (const std::unique_ptr<grpc::ServerCompletionQueue>& queue : queues_) {
    frontend_->Serve(queue.get(), options_.posted_calls);
    health_.Serve(queue.get());
    threads_.emplace_back([raw = queue.get()] { ServeQueue(raw); });
  }
  return absl::OkStatus();
}

void ServerImpl::OnFault(const absl::Status& fault) {
  health_.SetServing(false);
  const absl::Status unavailable = absl::UnavailableError("the device has failed; the server ends");
  frontend_->Refuse(unavailable);
  for (const std::unique_ptr<ServedModel>& model : models_) model->FailQueue(unavailable);
  MutexLock lock(mutex_);
  if (fault_.ok()) fault_ = fault;
  changed_.NotifyAll();
}

Counts ServerImpl::counts() const {
  Counts counts;
  frontend_->AddCounts(&counts);
  counts.unread_bytes = unread_.total_bytes();
  return counts;
}

void ServerImpl::RequestStop() {
  MutexLock lock(mutex_);
  stop_requested_ = true;
  changed_.NotifyAll();
}

void ServerImpl::SleepUnlessFault(Clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (fault_.ok() && changed_.WaitUntil(mutex_, deadline)) {
  }
}

absl::Status ServerImpl::ServeUntilStopped() {
  {
    MutexLock lock(mutex_);
    while (!stop_requested_ && fault_.ok()) changed_.Wait(mutex_);
  }
  health_.SetServing(false);
  SleepUnlessFault(Clock::now() + options_.drain_delay);
  frontend_->Refuse(absl::UnavailableError("the server is shutting down"));
  const Clock::time_point deadline = Clock::now() + options_.drain_timeout;
  frontend_->WaitForCalls(deadline);
  Shutdown(deadline);
  MutexLock lock(mutex_);
  return fault_;
}

void ServerImpl::Shutdown(Clock::time_point deadline) {
  if (frontend_ != nullptr) frontend_->Refuse(absl::UnavailableError("the server is shutting down"));
  // What waits still when the drain has timed out is given up; then every call has been finished once, and no lane will
  // touch a queue again.
  const absl::Status late = absl::UnavailableError("the server is shutting down");
  for (const std::unique_ptr<ServedModel>& model : models_) {
    model->FailQueue(late);
    model->Stop();
  }
  health_.EndWatches();
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + (std::max(deadline, Clock::now()) - Clock::now()));
    for (const std::unique_ptr<grpc::ServerCompletionQueue>& queue : queues_) queue->Shutdown();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    server_.reset();
  } else {
    // Never started: the queues still want to be drained.
    for (const std::unique_ptr<grpc::ServerCompletionQueue>& queue : queues_) {
      queue->Shutdown();
      ServeQueue(queue.get());
    }
  }
  queues_.clear();
  unix_claims_.clear();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(std::vector<ModelToServe> models, ServerOptions options) {
  auto server = std::make_unique<ServerImpl>(std::move(options));
  CVAE_RETURN_IF_ERROR(server->StartModels(std::move(models)));
  CVAE_RETURN_IF_ERROR(server->OpenPorts());
  return server;
}

}  // namespace cvae
