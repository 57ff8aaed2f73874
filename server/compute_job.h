// The five RPCs that compute: from a request message to a validated Job, and from the computed arrays to the answer
// message.

#ifndef CVAE_SERVER_COMPUTE_JOB_H_
#define CVAE_SERVER_COMPUTE_JOB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "cvae/v1/cvae.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/job.h"
#include "server/model_facts.h"

namespace cvae {

// A Job that knows its answer. Holds the request message, whose bytes its views point into.
class ComputeJob : public Job {
 public:
  // The answer, serialized. Call once, when every row has been computed.
  virtual grpc::ByteBuffer Answer() = 0;
};

// Validates `request` and takes it over. INVALID_ARGUMENT names the field; FAILED_PRECONDITION: the model cannot do
// this. `facts` must outlive the job.
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::EncodeRequest request, const ModelFacts& facts);
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::ReconstructRequest request, const ModelFacts& facts);
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::LossRequest request, const ModelFacts& facts);
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::DecodeRequest request, const ModelFacts& facts);
absl::StatusOr<std::unique_ptr<ComputeJob>> NewJob(v1::GenerateRequest request, const ModelFacts& facts);

}  // namespace cvae

#endif  // CVAE_SERVER_COMPUTE_JOB_H_
