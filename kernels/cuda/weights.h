// A model's weights in a GPU's memory, and what the kernels are told of its layers.

#ifndef CVAE_KERNELS_CUDA_WEIGHTS_H_
#define CVAE_KERNELS_CUDA_WEIGHTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/params.h"
#include "kernels/cuda/plan.h"
#include "kernels/network.h"

namespace cvae::cuda {

struct ResidentModel {
  DeviceMemory memory;
  std::vector<StageParams> encoder;  // all stages, however many
  std::vector<StageParams> decoder;
  ModelParams params;  // with the stages, where they are few enough
};

// Uploads to the current device. `encoder` null: a decoder alone.
absl::StatusOr<ResidentModel> Upload(const Model& model, const Network* encoder, const Network& decoder,
                                     const Plan& plan);

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_WEIGHTS_H_
