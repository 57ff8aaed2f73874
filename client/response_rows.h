// Answers of chunks put together. Inside client/ only.

#ifndef CVAE_CLIENT_RESPONSE_ROWS_H_
#define CVAE_CLIENT_RESPONSE_ROWS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "client/matrix.h"
#include "cvae/v1/cvae.pb.h"

namespace cvae::rows {

// Appends `part`, which must have `rows` rows, to `whole`, which will have `total` in the end. INTERNAL: it has not.
absl::Status Append(absl::string_view field, const v1::Matrix& part, uint64_t rows, uint64_t total, v1::Matrix* whole);

template <typename Repeated>
absl::Status AppendTerms(absl::string_view field, const Repeated& part, uint64_t rows, Repeated* whole) {
  if (static_cast<uint64_t>(part.size()) != rows) {
    return absl::InternalError(absl::StrCat("the answer has ", part.size(), " ", field, " for ", rows, " rows"));
  }
  whole->MergeFrom(part);
  return absl::OkStatus();
}

// Appends the answer for `rows` of `total` rows of `samples` samples each to `whole`. `terms`: it has loss terms of
// each row. Everything that is not of rows (the loss) is left to the caller.
template <typename Response>
absl::Status Append(const Response& part, uint64_t rows, uint64_t total, uint64_t samples, bool terms,
                    Response* whole) {
  if (whole->version().empty()) whole->set_version(part.version());
  if (whole->version() != part.version()) {
    return absl::AbortedError(absl::StrCat("the model changed between the calls, from version ", whole->version(),
                                           " to ", part.version(), ": ask again"));
  }
  if constexpr (requires { part.seed(); }) {
    if (part.has_seed()) whole->set_seed(part.seed());
  }
  const auto matrix = [&](absl::string_view field, bool has, const auto& in, uint64_t factor, auto mutable_out) {
    return has ? Append(field, in, rows * factor, total * factor, mutable_out()) : absl::OkStatus();
  };
#define CVAE_APPEND(field, factor)                                                                           \
  if constexpr (requires { part.field(); }) {                                                                \
    CVAE_RETURN_IF_ERROR(                                                                                    \
        matrix(#field, part.has_##field(), part.field(), factor, [&] { return whole->mutable_##field(); })); \
  }
  CVAE_APPEND(mu, 1)
  CVAE_APPEND(logvar, 1)
  CVAE_APPEND(x_hat, samples)
  CVAE_APPEND(z, samples)
  CVAE_APPEND(column_recon, 1)
  CVAE_APPEND(latent_kl, 1)
#undef CVAE_APPEND
  if constexpr (requires { part.row_kl(); }) {
    if (terms) {
      CVAE_RETURN_IF_ERROR(AppendTerms("row_recon", part.row_recon(), rows, whole->mutable_row_recon()));
      CVAE_RETURN_IF_ERROR(AppendTerms("row_kl", part.row_kl(), rows, whole->mutable_row_kl()));
    }
  }
  return absl::OkStatus();
}

}  // namespace cvae::rows

#endif  // CVAE_CLIENT_RESPONSE_ROWS_H_
