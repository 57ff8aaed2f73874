#include "tests/client/fake_service.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "client/loss_terms.h"
#include "client/matrix.h"
#include "cvae/internal/error_details.pb.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace cvae {
namespace {

constexpr uint64_t kDrawnSeed = 99;  // what the fake draws where a request brings none

// Not normal, but a function of the same things.
float Noise(uint64_t seed, uint64_t row, uint64_t sample, uint64_t latent) {
  uint64_t bits = seed * 0x9e3779b97f4a7c15u + row * 0xbf58476d1ce4e5b9u + sample * 0x94d049bb133111ebu + latent;
  bits ^= bits >> 29;
  bits *= 0xff51afd7ed558ccdu;
  bits ^= bits >> 32;
  return static_cast<float>(bits >> 40) / static_cast<float>(1 << 23) - 1;
}

// The condition of each row as one number.
template <typename Message>
std::vector<float> Classes(const Message& message, uint64_t rows) {
  std::vector<float> classes(rows, 0);
  const auto add_ids = [&](const auto& ids) {
    for (int i = 0; i < ids.size(); ++i) classes[i] = static_cast<float>(ids[i]);
  };
  const auto add_weights = [&](const v1::Matrix& matrix) {
    const std::vector<float> y = MatrixValues(matrix);
    for (uint64_t i = 0; i < y.size(); ++i) classes[i / kL] += y[i] * static_cast<float>(i % kL);
  };
  add_ids(message.labels());
  if (message.has_y()) add_weights(message.y());
  for (const auto& [name, part] : message.parts()) {
    add_ids(part.ids());
    if (part.has_values()) add_weights(part.values());
  }
  return classes;
}

// eps of each row and sample, [B * S, Z]; sets the answer's seed if one was used.
template <typename Request, typename Response>
std::vector<float> Draw(const Request& request, uint64_t rows, uint64_t samples, Response* response) {
  if (request.has_eps()) return MatrixValues(request.eps());
  std::vector<float> eps(rows * samples * kZ, 0);
  if (request.has_mean()) return eps;
  response->set_seed(request.has_seed() ? request.seed() : kDrawnSeed);
  for (uint64_t i = 0; i < eps.size(); ++i) {
    const uint64_t computed = i / kZ;
    eps[i] = Noise(response->seed(), request.first_row() + computed / samples, computed % samples, i % kZ);
  }
  return eps;
}

float Mu(const float* x, float condition, uint32_t k) {
  float sum = condition;
  for (uint32_t j = 0; j < kD; ++j) sum += x[j] * static_cast<float>((j + k) % 5);
  return sum / 10;
}

void DecodeRow(const float* z, float condition, float* x_hat) {
  for (uint32_t j = 0; j < kD; ++j) x_hat[j] = 0.3f * z[j % kZ] + 0.1f * condition;
}

// One pass over the rows, as Loss and Reconstruct make it.
struct Forward {
  std::vector<float> z, x_hat, row_recon, row_kl, column_recon, latent_kl;
};

template <typename Request>
Forward Run(const Request& request, const std::vector<float>& eps, uint64_t rows, uint64_t samples,
            const std::vector<float>& decode_classes) {
  const std::vector<float> x = MatrixValues(request.x()), classes = Classes(request, rows);
  const std::vector<float> target = request.has_target() ? MatrixValues(request.target()) : x;
  Forward out;
  for (uint64_t i = 0; i < rows; ++i) {
    float kl = 0;
    for (uint32_t k = 0; k < kZ; ++k) {
      const float mu = Mu(&x[i * kD], classes[i], k);
      out.latent_kl.push_back(0.5f * mu * mu);
      kl += 0.5f * mu * mu;
    }
    out.row_kl.push_back(kl);
    double recon = 0;
    std::vector<double> columns(kD, 0);
    for (uint64_t s = 0; s < samples; ++s) {
      float z[kZ], x_hat[kD];
      for (uint32_t k = 0; k < kZ; ++k) z[k] = Mu(&x[i * kD], classes[i], k) + eps[(i * samples + s) * kZ + k];
      DecodeRow(z, decode_classes[i], x_hat);
      float sum = 0;
      for (uint32_t j = 0; j < kD; ++j) {
        const float d = x_hat[j] - target[i * kD + j];
        columns[j] += d * d;
        sum += d * d;
      }
      recon += sum;
      out.z.insert(out.z.end(), z, z + kZ);
      out.x_hat.insert(out.x_hat.end(), x_hat, x_hat + kD);
    }
    out.row_recon.push_back(static_cast<float>(recon / static_cast<double>(samples)));
    for (const double column : columns) out.column_recon.push_back(static_cast<float>(column / samples));
  }
  return out;
}

template <typename Request, typename Response>
void AnswerLoss(const Request& request, const Forward& forward, const LossRule& rule, Response* response) {
  const LossTerms terms = CombineLoss(forward.row_recon, forward.row_kl, rule);
  response->set_loss(terms.loss);
  response->set_recon_loss(terms.recon_loss);
  response->set_kl_loss(terms.kl_loss);
  const auto rows = static_cast<uint32_t>(forward.row_kl.size());
  if (request.per_row()) {
    response->mutable_row_recon()->Add(forward.row_recon.begin(), forward.row_recon.end());
    response->mutable_row_kl()->Add(forward.row_kl.begin(), forward.row_kl.end());
  }
  if (request.per_column()) *response->mutable_column_recon() = MakeMatrix(rows, kD, forward.column_recon);
  if (request.per_latent()) *response->mutable_latent_kl() = MakeMatrix(rows, kZ, forward.latent_kl);
}

std::string NewPath() {
  static std::atomic<int> count = 0;
  return "/tmp/cvae-fake-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

}  // namespace

grpc::Status Refusal(grpc::StatusCode code, const std::string& message, int delay_ms, const std::string& field) {
  internal::Status status;
  status.set_code(code);
  status.set_message(message);
  if (delay_ms >= 0) {
    internal::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(delay_ms * 1000000);
    status.add_details()->set_type_url("type.googleapis.com/google.rpc.RetryInfo");
    status.mutable_details(0)->set_value(retry.SerializeAsString());
  }
  if (!field.empty()) {
    internal::BadRequest bad;
    bad.add_field_violations()->set_field(field);
    bad.mutable_field_violations(0)->set_description("wrong");
    auto* detail = status.add_details();
    detail->set_type_url("type.googleapis.com/google.rpc.BadRequest");
    detail->set_value(bad.SerializeAsString());
  }
  return grpc::Status(code, message, status.SerializeAsString());
}

FakeService::FakeService() {
  model_.set_version("0123456789ab-fp32.n1");
  model_.set_name("fake");
  model_.set_input_dim(kD);
  model_.set_label_dim(kL);
  model_.set_latent_dim(kZ);
  model_.set_output_dim(kD);
  auto* part = model_.add_condition();
  part->set_name("digit");
  part->set_width(kL);
  part->set_classes(true);
  for (const char* name : {"zero", "one", "two"}) part->add_class_names(name);
  model_.set_engine("cpu");
  model_.set_device("a fake");
  model_.set_precision("fp32");
  model_.set_description(R"({"format":1,"loss":{"recon_weight":0.1,"kl_weight":3}})");

  target_ = "unix:" + NewPath();
  grpc::ServerBuilder builder;
  builder.AddListeningPort(target_, grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeService::~FakeService() { server_->Shutdown(std::chrono::system_clock::now()); }

void FakeService::Refuse(grpc::Status status, int times, int after) {
  MutexLock lock(mutex_);
  refusal_ = std::move(status);
  refusals_ = times;
  refuse_after_ = after;
}

void FakeService::ChangeVersion(int after) {
  MutexLock lock(mutex_);
  change_after_ = after;
}

void FakeService::Hang() {
  MutexLock lock(mutex_);
  hang_ = true;
}

std::vector<std::pair<uint64_t, uint64_t>> FakeService::calls() const {
  MutexLock lock(mutex_);
  auto calls = calls_;
  std::sort(calls.begin(), calls.end());
  return calls;
}

int FakeService::attempts() const {
  MutexLock lock(mutex_);
  return attempts_;
}

v1::LossRequest FakeService::last_loss() const {
  MutexLock lock(mutex_);
  return last_loss_;
}

v1::GenerateRequest FakeService::last_generate() const {
  MutexLock lock(mutex_);
  return last_generate_;
}

v1::ReconstructRequest FakeService::last_reconstruct() const {
  MutexLock lock(mutex_);
  return last_reconstruct_;
}

grpc::Status FakeService::Begin(grpc::ServerContext* context, uint64_t first_row, uint64_t rows, std::string* version) {
  bool hang = false;
  {
    MutexLock lock(mutex_);
    const int attempt = attempts_++;
    if (attempt >= refuse_after_ && refusals_ > 0) {
      --refusals_;
      return refusal_;
    }
    calls_.push_back({first_row, rows});
    *version = change_after_ >= 0 && attempt >= change_after_ ? "another" : model_.version();
    hang = hang_;
  }
  while (hang && !context->IsCancelled()) std::this_thread::yield();
  return grpc::Status::OK;
}

grpc::Status FakeService::Encode(grpc::ServerContext* context, const v1::EncodeRequest* request,
                                 v1::EncodeResponse* response) {
  const std::vector<float> x = MatrixValues(request->x());
  const uint64_t rows = x.size() / kD;
  const grpc::Status status = Begin(context, request->first_row(), rows, response->mutable_version());
  if (!status.ok()) return status;
  const std::vector<float> classes = Classes(*request, rows);
  std::vector<float> mu, logvar;
  for (uint64_t i = 0; i < rows * kZ; ++i) {
    mu.push_back(Mu(&x[i / kZ * kD], classes[i / kZ], i % kZ));
    logvar.push_back(mu.back() / 2);
  }
  *response->mutable_mu() = MakeMatrix(static_cast<uint32_t>(rows), kZ, mu);
  *response->mutable_logvar() = MakeMatrix(static_cast<uint32_t>(rows), kZ, logvar);
  if (request->encoding() != v1::Matrix::DATA) {  // as values, then
    for (v1::Matrix* matrix : {response->mutable_mu(), response->mutable_logvar()}) {
      const std::vector<float> values = MatrixValues(*matrix);
      matrix->clear_data();
      matrix->mutable_values()->Add(values.begin(), values.end());
    }
  }
  return grpc::Status::OK;
}

grpc::Status FakeService::Reconstruct(grpc::ServerContext* context, const v1::ReconstructRequest* request,
                                      v1::ReconstructResponse* response) {
  const uint64_t rows = MatrixSize(request->x()) / kD;
  const grpc::Status status = Begin(context, request->first_row(), rows, response->mutable_version());
  if (!status.ok()) return status;
  {
    MutexLock lock(mutex_);
    last_reconstruct_ = *request;
  }
  const std::vector<float> decode_classes =
      request->has_decode_condition() ? Classes(request->decode_condition(), rows) : Classes(*request, rows);
  const Forward forward = Run(*request, Draw(*request, rows, 1, response), rows, 1, decode_classes);
  *response->mutable_x_hat() = MakeMatrix(static_cast<uint32_t>(rows), kD, forward.x_hat);
  if (request->return_z()) *response->mutable_z() = MakeMatrix(static_cast<uint32_t>(rows), kZ, forward.z);
  if (request->return_loss()) AnswerLoss(*request, forward, *ParseLossRule(model_.description()), response);
  return grpc::Status::OK;
}

grpc::Status FakeService::Loss(grpc::ServerContext* context, const v1::LossRequest* request,
                               v1::LossResponse* response) {
  const uint64_t rows = MatrixSize(request->x()) / kD;
  const grpc::Status status = Begin(context, request->first_row(), rows, response->mutable_version());
  if (!status.ok()) return status;
  {
    MutexLock lock(mutex_);
    last_loss_ = *request;
  }
  const uint64_t samples = std::max(1u, request->num_samples());
  const std::vector<float> eps = Draw(*request, rows, samples, response);
  const Forward forward = Run(*request, eps, rows, samples, Classes(*request, rows));
  AnswerLoss(*request, forward, *ParseLossRule(model_.description()), response);
  return grpc::Status::OK;
}

grpc::Status FakeService::Decode(grpc::ServerContext* context, const v1::DecodeRequest* request,
                                 v1::DecodeResponse* response) {
  const std::vector<float> z = MatrixValues(request->z());
  const uint64_t rows = z.size() / kZ;
  const grpc::Status status = Begin(context, request->first_row(), rows, response->mutable_version());
  if (!status.ok()) return status;
  const std::vector<float> classes = Classes(*request, rows);
  std::vector<float> x_hat(rows * kD);
  for (uint64_t i = 0; i < rows; ++i) DecodeRow(&z[i * kZ], classes[i], &x_hat[i * kD]);
  *response->mutable_x_hat() = MakeMatrix(static_cast<uint32_t>(rows), kD, x_hat);
  return grpc::Status::OK;
}

grpc::Status FakeService::Generate(grpc::ServerContext* context, const v1::GenerateRequest* request,
                                   v1::GenerateResponse* response) {
  uint64_t rows = request->labels_size() > 0 ? request->labels_size() : request->rows();
  if (request->has_y()) rows = MatrixSize(request->y()) / kL;
  for (const auto& [name, part] : request->parts()) {
    rows = std::max<uint64_t>({rows, static_cast<uint64_t>(part.ids_size()), static_cast<uint64_t>(part.names_size())});
  }
  const grpc::Status status = Begin(context, request->first_row(), rows, response->mutable_version());
  if (!status.ok()) return status;
  {
    MutexLock lock(mutex_);
    last_generate_ = *request;
  }
  const uint64_t samples = std::max(1u, request->samples_per_row());
  const std::vector<float> z = Draw(*request, rows, samples, response);
  const std::vector<float> classes = Classes(*request, rows);
  std::vector<float> x_hat(rows * samples * kD);
  for (uint64_t i = 0; i < rows * samples; ++i) DecodeRow(&z[i * kZ], classes[i / samples], &x_hat[i * kD]);
  *response->mutable_x_hat() = MakeMatrix(static_cast<uint32_t>(rows * samples), kD, x_hat);
  if (request->return_z()) *response->mutable_z() = MakeMatrix(static_cast<uint32_t>(rows * samples), kZ, z);
  return grpc::Status::OK;
}

grpc::Status FakeService::GetModel(grpc::ServerContext*, const v1::GetModelRequest* request,
                                   v1::GetModelResponse* response) {
  if (!request->model().empty() && request->model() != model_.name()) {
    return Refusal(grpc::StatusCode::NOT_FOUND, "model: got \"" + request->model() + "\", served is \"fake\"", -1);
  }
  *response = model_;
  return grpc::Status::OK;
}

grpc::Status FakeService::ListModels(grpc::ServerContext*, const v1::ListModelsRequest*,
                                     v1::ListModelsResponse* response) {
  auto* model = response->add_models();
  model->set_name(model_.name());
  model->set_version(model_.version());
  model->set_input_dim(kD);
  return grpc::Status::OK;
}

}  // namespace cvae
