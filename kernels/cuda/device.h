// GPUs: which there are, which were asked for, and CUDA's errors as statuses.

#ifndef CVAE_KERNELS_CUDA_DEVICE_H_
#define CVAE_KERNELS_CUDA_DEVICE_H_

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "kernels/cuda/plan.h"

namespace cvae::cuda {

// OK, or INTERNAL with the call and what CUDA says of its error.
absl::Status ToStatus(cudaError_t error, const char* call);

// Returns from the function with the status of a CUDA call that failed.
#define CVAE_RETURN_IF_CUDA_ERROR(call) CVAE_RETURN_IF_ERROR(::cvae::cuda::ToStatus((call), #call))

struct Device {
  int index = 0;
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // "GPU-1c3f..."
  int major = 0;     // of the compute capability
  int minor = 0;
  DeviceLimits limits;
};

// The GPUs of this machine that `gpus` names: "all", or a list of indices or UUIDs (as nvidia-smi -L prints them)
// separated by commas. FAILED_PRECONDITION, saying what to do, if there is no GPU, no driver or one too old;
// INVALID_ARGUMENT if it names what there is not.
absl::StatusOr<std::vector<Device>> ChooseDevices(const std::string& gpus);

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_DEVICE_H_
