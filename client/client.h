// Calls of cvae.v1.CvaeService, blocking and asynchronous, on the generated messages.
//
//   cvae::Client client("localhost:8001");
//   cvae::v1::LossRequest request;
//   *request.mutable_x() = cvae::MakeMatrix(rows, 256, values);
//   request.add_labels(7);
//   absl::StatusOr<cvae::v1::LossResponse> response = client.Loss(request);
//
// A set of rows that is too large for one call: client/chunks.h.

#ifndef CVAE_CLIENT_CLIENT_H_
#define CVAE_CLIENT_CLIENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cvae/v1/cvae.grpc.pb.h"
#include "grpcpp/security/credentials.h"

namespace cvae {

class AsyncCalls;

struct ClientOptions {
  // How long a call may take, its retries included. absl::InfiniteDuration(): for ever.
  absl::Duration timeout = absl::Seconds(60);
  // How the channel is secured. Null: plaintext.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
};

struct CallOptions {
  // How long this call may take, its retries included. Unset: the client's timeout.
  std::optional<absl::Duration> timeout;
};

// A connection to one server (or to several behind one name). Thread-safe.
//
// Every call:
// - asks for answers as Matrix.data where its `encoding` is AUTO;
// - takes and sends messages of any size (the server has limits of its own: GetModel);
// - is retried only where the server asks for it with RetryInfo, after the delay it names, and only if that is before
// the
//   deadline; a request that was computed is never sent twice;
// - fails with the server's code and message; client/status_details.h reads the details. DEADLINE_EXCEEDED: the timeout
//   passed. UNAVAILABLE: there is no server at the target, or it is going away.
class Client {
 public:
  // What an asynchronous call ends with: once, on the client's own thread, which it must not keep for long. It may
  // start other asynchronous calls, and must not make blocking ones.
  template <typename Response>
  using Callback = std::function<void(absl::StatusOr<Response>)>;

  // `target` is gRPC's: "localhost:8001", "[::1]:8001", "dns:///host:8001", "unix:/run/cvae.sock". Connects with the
  // first call.
  explicit Client(const std::string& target, ClientOptions options = {});

  // Asynchronous calls under way end with CANCELLED, and have ended when this returns. REQUIRES not to be in a
  // callback.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  absl::StatusOr<v1::EncodeResponse> Encode(v1::EncodeRequest request, CallOptions options = {}) const;
  absl::StatusOr<v1::ReconstructResponse> Reconstruct(v1::ReconstructRequest request, CallOptions options = {}) const;
  absl::StatusOr<v1::LossResponse> Loss(v1::LossRequest request, CallOptions options = {}) const;
  absl::StatusOr<v1::DecodeResponse> Decode(v1::DecodeRequest request, CallOptions options = {}) const;
  absl::StatusOr<v1::GenerateResponse> Generate(v1::GenerateRequest request, CallOptions options = {}) const;
  absl::StatusOr<v1::GetModelResponse> GetModel(v1::GetModelRequest request = {}, CallOptions options = {}) const;
  absl::StatusOr<v1::ListModelsResponse> ListModels(v1::ListModelsRequest request = {}, CallOptions options = {}) const;

  // The same, without waiting.
  void EncodeAsync(v1::EncodeRequest request, Callback<v1::EncodeResponse> done, CallOptions options = {}) const;
  void ReconstructAsync(v1::ReconstructRequest request, Callback<v1::ReconstructResponse> done,
                        CallOptions options = {}) const;
  void LossAsync(v1::LossRequest request, Callback<v1::LossResponse> done, CallOptions options = {}) const;
  void DecodeAsync(v1::DecodeRequest request, Callback<v1::DecodeResponse> done, CallOptions options = {}) const;
  void GenerateAsync(v1::GenerateRequest request, Callback<v1::GenerateResponse> done, CallOptions options = {}) const;
  void GetModelAsync(v1::GetModelRequest request, Callback<v1::GetModelResponse> done, CallOptions options = {}) const;
  void ListModelsAsync(v1::ListModelsRequest request, Callback<v1::ListModelsResponse> done,
                       CallOptions options = {}) const;

 private:
  absl::Time Deadline(const CallOptions& options) const;

  const absl::Duration timeout_;
  const std::unique_ptr<v1::CvaeService::Stub> stub_;
  const std::unique_ptr<AsyncCalls> calls_;  // after the stub that they use
};

}  // namespace cvae

#endif  // CVAE_CLIENT_CLIENT_H_
