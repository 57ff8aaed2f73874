// A cvae.v1.CvaeService in this process, on a Unix socket, for tests of the client: one model of 16 numbers (4 x 4
// images), three classes and two latents, whose arithmetic is simple but, as a real server's, of each row by itself.

#ifndef CVAE_TESTS_CLIENT_FAKE_SERVICE_H_
#define CVAE_TESTS_CLIENT_FAKE_SERVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cvae/v1/cvae.grpc.pb.h"
#include "grpcpp/server.h"

namespace cvae {

constexpr uint32_t kD = 16;  // and O
constexpr uint32_t kL = 3;
constexpr uint32_t kZ = 2;

// A grpc::Status with google.rpc details, as a server sends it. A delay < 0: no RetryInfo.
grpc::Status Refusal(grpc::StatusCode code, const std::string& message, int delay_ms, const std::string& field = "");

class FakeService final : public v1::CvaeService::Service {
 public:
  FakeService();
  ~FakeService() override;

  // "unix:..."
  const std::string& target() const { return target_; }

  // What GetModel answers; change it before the first call.
  v1::GetModelResponse& model() { return model_; }
  // Calls of Encode, Reconstruct, Loss, Decode and Generate from the `after`-th on are answered with `status`, `times`
  // times.
  void Refuse(grpc::Status status, int times, int after = 0);
  // From the `after`-th call on the answers have another version.
  void ChangeVersion(int after);
  // Calls wait until they are cancelled.
  void Hang();

  // Rows of each call that was computed, in the order of first_row; and how many calls there were in all.
  std::vector<std::pair<uint64_t, uint64_t>> calls() const;
  int attempts() const;
  // The last Loss, Generate or Reconstruct request.
  v1::LossRequest last_loss() const;
  v1::GenerateRequest last_generate() const;
  v1::ReconstructRequest last_reconstruct() const;

  grpc::Status Encode(grpc::ServerContext*, const v1::EncodeRequest*, v1::EncodeResponse*) override;
  grpc::Status Reconstruct(grpc::ServerContext*, const v1::ReconstructRequest*, v1::ReconstructResponse*) override;
  grpc::Status Loss(grpc::ServerContext*, const v1::LossRequest*, v1::LossResponse*) override;
  grpc::Status Decode(grpc::ServerContext*, const v1::DecodeRequest*, v1::DecodeResponse*) override;
  grpc::Status Generate(grpc::ServerContext*, const v1::GenerateRequest*, v1::GenerateResponse*) override;
  grpc::Status GetModel(grpc::ServerContext*, const v1::GetModelRequest*, v1::GetModelResponse*) override;
  grpc::Status ListModels(grpc::ServerContext*, const v1::ListModelsRequest*, v1::ListModelsResponse*) override;

 private:
  // What stands before each call's arithmetic: refusals, hanging, the count, the version.
  grpc::Status Begin(grpc::ServerContext* context, uint64_t first_row, uint64_t rows, std::string* version);

  std::string target_;
  v1::GetModelResponse model_;

  mutable Mutex mutex_;
  grpc::Status refusal_ ABSL_GUARDED_BY(mutex_);
  int refusals_ ABSL_GUARDED_BY(mutex_) = 0;
  int refuse_after_ ABSL_GUARDED_BY(mutex_) = 0;
  int change_after_ ABSL_GUARDED_BY(mutex_) = -1;
  bool hang_ ABSL_GUARDED_BY(mutex_) = false;
  int attempts_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::pair<uint64_t, uint64_t>> calls_ ABSL_GUARDED_BY(mutex_);
  v1::LossRequest last_loss_ ABSL_GUARDED_BY(mutex_);
  v1::GenerateRequest last_generate_ ABSL_GUARDED_BY(mutex_);
  v1::ReconstructRequest last_reconstruct_ ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<grpc::Server> server_;  // last: it goes first
};

}  // namespace cvae

#endif  // CVAE_TESTS_CLIENT_FAKE_SERVICE_H_
