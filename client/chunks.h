// Sets of rows too large for one call: sent as several, answered as if they had been one.
//
// A row's answer depends on the row, the noise and its index alone, so a set cut into chunks gives the bits of the
// whole: each chunk says where in the set it begins (first_row), all share one seed, and the loss terms are made again
// from the terms of each row.

#ifndef CVAE_CLIENT_CHUNKS_H_
#define CVAE_CLIENT_CHUNKS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "client/client.h"

namespace cvae {

struct ChunkOptions {
  uint64_t rows = 0;  // rows of a call; 0: as many as fit into the model's limits and 2 MiB either way
  int in_flight = 4;  // calls at a time
  CallOptions call;   // of each call
  // Told after each chunk, in order, on the caller's thread. Not called if one call is enough.
  std::function<void(uint64_t rows_done, uint64_t rows)> progress;
};

// What a row of a call costs at the most, beside what the call itself does.
struct RowCost {
  uint64_t request_bytes = 0;
  uint64_t request_fixed_bytes = 0;  // of the call, not of a row
  uint64_t answer_bytes = 0;
  uint64_t computed_rows = 1;  // S
};

// Rows of a chunk: at least one, within `limits` (a limit of 0 is none), and within 2 MiB each way.
uint64_t ChunkRows(const RowCost& cost, const v1::Limits& limits);

// The whole answer to a request of any number of rows. `model` is what GetModel says of the request's model. Where
// noise has to be drawn and the request brings no seed, one is drawn for all chunks, and answered. Fails with the first
// chunk's error, its message prefixed with the rows that the chunk held ("rows 4096 to 8191: ..."). INVALID_ARGUMENT:
// the request's fields disagree about its number of rows. ABORTED: the chunks were not all answered by the same model
// file and numerics (a restart in between); ask again.
absl::StatusOr<v1::EncodeResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                v1::EncodeRequest request, const ChunkOptions& options = {});
absl::StatusOr<v1::ReconstructResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                     v1::ReconstructRequest request, const ChunkOptions& options = {});
absl::StatusOr<v1::LossResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                              v1::LossRequest request, const ChunkOptions& options = {});
absl::StatusOr<v1::DecodeResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                v1::DecodeRequest request, const ChunkOptions& options = {});
absl::StatusOr<v1::GenerateResponse> CallInChunks(const Client& client, const v1::GetModelResponse& model,
                                                  v1::GenerateRequest request, const ChunkOptions& options = {});

}  // namespace cvae

#endif  // CVAE_CLIENT_CHUNKS_H_
