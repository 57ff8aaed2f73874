// A lane's workplace on a GPU: its stream, its staging memory, its scratch. All memory is taken when it is made.

#ifndef CVAE_KERNELS_CUDA_SESSION_H_
#define CVAE_KERNELS_CUDA_SESSION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/weights.h"
#include "kernels/engine.h"

namespace cvae::cuda {

// What the sessions of one GPU share; it outlives them.
struct OnDevice {
  Device device;
  Plan plan;
  ForcedForm forced = ForcedForm::kAuto;
  ResidentModel resident;
};

absl::StatusOr<std::unique_ptr<Session>> NewCudaSession(const Model& model, const OnDevice& on, int max_rows);

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_SESSION_H_
