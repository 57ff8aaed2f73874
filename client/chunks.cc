#include "client/chunks.h"

#include <deque>
#include <future>
#include <limits>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/loss_terms.h"
#include "client/request_rows.h"
#include "client/response_rows.h"

namespace cvae {
namespace {

// Bytes of a chunk, each way: large enough that a call's own cost does not show, small enough that calls overlap.
constexpr uint64_t kChunkBytes = 2 << 20;

// Each RPC: its answer, its method, bytes of an answer's row.
template <typename Request>
struct Rpc;

template <>
struct Rpc<v1::EncodeRequest> {
  using Response = v1::EncodeResponse;
  static constexpr auto kMethod = &Client::EncodeAsync;
  static uint64_t AnswerNumbers(const v1::EncodeRequest&, const v1::GetModelResponse& m) {
    return 2 * uint64_t{m.latent_dim()};
  }
};

template <>
struct Rpc<v1::ReconstructRequest> {
  using Response = v1::ReconstructResponse;
  static constexpr auto kMethod = &Client::ReconstructAsync;
  static uint64_t AnswerNumbers(const v1::ReconstructRequest& r, const v1::GetModelResponse& m) {
    const uint64_t z = m.latent_dim(), o = m.output_dim();
    return o + 2 + (r.return_z() ? z : 0) + (r.per_column() ? o : 0) + (r.per_latent() ? z : 0);
  }
};

template <>
struct Rpc<v1::LossRequest> {
  using Response = v1::LossResponse;
  static constexpr auto kMethod = &Client::LossAsync;
  static uint64_t AnswerNumbers(const v1::LossRequest& r, const v1::GetModelResponse& m) {
    return 2 + (r.per_column() ? rows::Samples(r) * m.output_dim() : 0) + (r.per_latent() ? m.latent_dim() : 0);
  }
};

template <>
struct Rpc<v1::DecodeRequest> {
  using Response = v1::DecodeResponse;
  static constexpr auto kMethod = &Client::DecodeAsync;
  static uint64_t AnswerNumbers(const v1::DecodeRequest&, const v1::GetModelResponse& m) { return m.output_dim(); }
};

template <>
struct Rpc<v1::GenerateRequest> {
  using Response = v1::GenerateResponse;
  static constexpr auto kMethod = &Client::GenerateAsync;
  static uint64_t AnswerNumbers(const v1::GenerateRequest& r, const v1::GetModelResponse& m) {
    return rows::Samples(r) * (m.output_dim() + (r.return_z() ? uint64_t{m.latent_dim()} : 0));
  }
};

// Does the answer hold loss terms?
template <typename Request>
bool AsksForLoss(const Request& request) {
  if constexpr (requires { request.return_loss(); }) return request.return_loss();
  return requires { request.per_row(); };
}

// Would the server draw a seed, another for each chunk?
template <typename Request>
bool NeedsSeed(const rows::RowRequest<Request>& request, const v1::GetModelResponse& model) {
  if constexpr (requires(Request r) { r.noise_case(); }) {
    if (request.has_eps() || request.rest().noise_case() != Request::NOISE_NOT_SET) return false;
    return std::is_same_v<Request, v1::GenerateRequest> || model.default_noise() == v1::GetModelResponse::SAMPLE ||
           rows::Samples(request.rest()) > 1;
  }
  return false;
}

uint64_t DrawSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

template <typename Request>
std::future<absl::StatusOr<typename Rpc<Request>::Response>> Start(const Client& client, Request request,
                                                                   const CallOptions& options) {
  using Answer = absl::StatusOr<typename Rpc<Request>::Response>;
  auto promise = std::make_shared<std::promise<Answer>>();  // shared: std::function wants to be copied
  (client.*Rpc<Request>::kMethod)(
      std::move(request), [promise](Answer answer) { promise->set_value(std::move(answer)); }, options);
  return promise->get_future();
}

absl::Status InRows(const absl::Status& status, uint64_t begin, uint64_t end) {
  absl::Status result(status.code(), absl::StrCat("rows ", begin, " to ", end - 1, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

// Makes the terms of the whole from those of its rows, which are then dropped unless they were asked for.
template <typename Response>
void FinishLoss(const LossRule& rule, bool per_row, Response& response) {
  const LossTerms terms = CombineLoss(response.row_recon(), response.row_kl(), rule);
  response.set_loss(terms.loss);
  response.set_recon_loss(terms.recon_loss);
  response.set_kl_loss(terms.kl_loss);
  if (per_row) return;
  response.clear_row_recon();
  response.clear_row_kl();
}

// Calls for chunks of `chunk_rows` rows, some at a time, and puts the answers together in order.
template <typename Request>
absl::StatusOr<typename Rpc<Request>::Response> CallAll(const Client& client, const rows::RowRequest<Request>& request,
                                                        uint64_t chunk_rows, bool terms, const ChunkOptions& options) {
  using Response = typename Rpc<Request>::Response;
  struct Chunk {
    uint64_t begin, end;
    std::future<absl::StatusOr<Response>> answer;
  };
  Response whole;
  std::deque<Chunk> chunks;
  absl::Status status;
  uint64_t next = 0;
  while (!chunks.empty() || (status.ok() && next < request.rows())) {
    while (status.ok() && next < request.rows() &&
           chunks.size() < static_cast<size_t>(std::max(1, options.in_flight))) {
      const uint64_t end = std::min(next + chunk_rows, request.rows());
      chunks.push_back({next, end, Start(client, request.Slice(next, end), options.call)});
      next = end;
    }
    // After an error those under way are still waited for, so that nothing goes on behind the caller's back.
    absl::StatusOr<Response> answer = chunks.front().answer.get();
    const uint64_t begin = chunks.front().begin, end = chunks.front().end;
    chunks.pop_front();
    if (!status.ok()) continue;
    status = answer.ok()
                 ? rows::Append(*answer, end - begin, request.rows(), rows::Samples(request.rest()), terms, &whole)
                 : answer.status();
    if (!status.ok()) status = InRows(status, begin, end);
    if (status.ok() && options.progress) options.progress(end, request.rows());
  }
  if (!status.ok()) return status;
  return whole;
}

template <typename Request>
absl::StatusOr<typename Rpc<Request>::Response> CallWhole(const Client& client, const v1::GetModelResponse& model,
                                                          Request message, const ChunkOptions& options) {
  CVAE_ASSIGN_OR_RETURN(auto request, rows::RowRequest<Request>::Make(std::move(message), model));
  RowCost cost;
  cost.request_bytes = request.RequestRowBytes();
  cost.request_fixed_bytes = request.RequestFixedBytes();
  cost.answer_bytes = sizeof(float) * Rpc<Request>::AnswerNumbers(request.rest(), model);
  cost.computed_rows = rows::Samples(request.rest());
  const uint64_t chunk_rows = options.rows > 0 ? options.rows : ChunkRows(cost, model.limits());
  if (chunk_rows >= request.rows()) {
    return Start(client, request.Slice(0, request.rows()), options.call).get();
  }

  if (NeedsSeed(request, model)) {
    if constexpr (requires(Request r) { r.set_seed(0); }) request.rest().set_seed(DrawSeed());
  }
  const bool terms = AsksForLoss(request.rest());
  bool per_row = false;
  LossRule rule;
  if constexpr (requires(Request r) { r.per_row(); }) {
    per_row = request.rest().per_row();
    request.rest().set_per_row(per_row || terms);
    CVAE_ASSIGN_OR_RETURN(rule, ParseLossRule(model.description()));
  }
  CVAE_ASSIGN_OR_RETURN(auto whole, CallAll(client, request, chunk_rows, terms, options));
  if constexpr (requires { whole.row_recon(); }) {
    if (terms) FinishLoss(rule, per_row, whole);
  }
  return whole;
}

}  // namespace

uint64_t ChunkRows(const RowCost& cost, const v1::Limits& limits) {
  uint64_t rows = std::numeric_limits<uint32_t>::max();
  const auto bound = [&rows](uint64_t total, uint64_t each) {
    if (each > 0) rows = std::min(rows, total / each);
  };
  bound(kChunkBytes, std::max(cost.request_bytes, cost.answer_bytes));
  if (limits.rows() > 0) bound(limits.rows(), cost.computed_rows);
  if (limits.answer_bytes() > 0) bound(limits.answer_bytes(), cost.answer_bytes);
  if (limits.request_bytes() > 0) {
    bound(limits.request_bytes() - std::min(limits.request_bytes(), cost.request_fixed_bytes), cost.request_bytes);
  }
  return std::max<uint64_t>(rows, 1);
}

absl::StatusOr<v1::EncodeResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                v1::EncodeRequest request, const ChunkOptions& options) {
  return CallWhole(client, model, std::move(request), options);
}

absl::StatusOr<v1::ReconstructResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                     v1::ReconstructRequest request, const ChunkOptions& options) {
  return CallWhole(client, model, std::move(request), options);
}

absl::StatusOr<v1::LossResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                              v1::LossRequest request, const ChunkOptions& options) {
  return CallWhole(client, model, std::move(request), options);
}

absl::StatusOr<v1::DecodeResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                v1::DecodeRequest request, const ChunkOptions& options) {
  return CallWhole(client, model, std::move(request), options);
}

absl::StatusOr<v1::GenerateResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                  v1::GenerateRequest request, const ChunkOptions& options) {
  return CallWhole(client, model, std::move(request), options);
}

}  // namespace cvae
