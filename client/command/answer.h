// What a command got from the server, ready to be shown or written.

#ifndef CVAE_CLIENT_COMMAND_ANSWER_H_
#define CVAE_CLIENT_COMMAND_ANSWER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/tensor.h"
#include "client/matrix.h"
#include "cvae/v1/cvae.pb.h"

namespace cvae {

struct Answer {
  std::string version;
  std::optional<uint64_t> seed;
  std::vector<std::pair<std::string, double>> terms;    // loss, recon_loss, kl_loss; or none
  std::vector<std::pair<std::string, Tensor>> tensors;  // F32: [rows, cols], or [rows] for row_recon and row_kl
  std::shared_ptr<const void> owner;                    // of the tensors' bytes

  const Tensor* Find(const std::string& name) const {
    for (const auto& [each, tensor] : tensors) {
      if (each == name) return &tensor;
    }
    return nullptr;
  }
};

// Drops all tensors but the one of that name; "" keeps all. INVALID_ARGUMENT lists those that there are.
absl::Status KeepField(const std::string& name, Answer& answer);

// As data, if it is in values.
inline void ToData(v1::Matrix& matrix) {
  if (matrix.values_size() == 0) return;
  matrix.set_data(matrix.values().data(), matrix.values_size() * sizeof(float));
  matrix.clear_values();
}

// Takes a response apart. Its tensors are the answer's, by the names of their fields.
template <typename Response>
Answer MakeAnswer(Response message) {
  Answer answer;
  auto response = std::make_shared<Response>(std::move(message));
  answer.version = response->version();
  if constexpr (requires { response->seed(); }) {
    if (response->has_seed()) answer.seed = response->seed();
  }
  if constexpr (requires { response->loss(); }) {
    bool has = true;
    if constexpr (requires { response->has_loss(); }) has = response->has_loss();
    if (has) {
      answer.terms = {
          {"loss", response->loss()}, {"recon_loss", response->recon_loss()}, {"kl_loss", response->kl_loss()}};
    }
  }
  const auto add = [&answer](const char* name, v1::Matrix& matrix) {
    ToData(matrix);
    answer.tensors.push_back({name, {DType::kF32, {matrix.rows(), matrix.cols()}, matrix.data()}});
  };
  const auto add_terms = [&answer](const char* name, const auto& terms) {
    if (terms.empty()) return;
    const auto* bytes = reinterpret_cast<const char*>(terms.data());
    const std::string_view data(bytes, terms.size() * sizeof(float));
    answer.tensors.push_back({name, {DType::kF32, {uint64_t(terms.size())}, data}});
  };
#define CVAE_ADD(field)                                                     \
  if constexpr (requires { response->has_##field(); }) {                    \
    if (response->has_##field()) add(#field, *response->mutable_##field()); \
  }
  CVAE_ADD(mu)
  CVAE_ADD(logvar)
  CVAE_ADD(x_hat)
  CVAE_ADD(z)
  if constexpr (requires { response->row_kl(); }) {
    add_terms("row_recon", response->row_recon());
    add_terms("row_kl", response->row_kl());
  }
  CVAE_ADD(column_recon)
  CVAE_ADD(latent_kl)
#undef CVAE_ADD
  answer.owner = std::move(response);
  return answer;
}

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_ANSWER_H_
