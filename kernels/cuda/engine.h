// The CUDA engine: weights resident in a GPU's memory, a lane's stream and memory its own, the forward pass one fused
// launch where the model fits. The same bits as the CPU engine's.

#ifndef CVAE_KERNELS_CUDA_ENGINE_H_
#define CVAE_KERNELS_CUDA_ENGINE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/engine.h"

namespace cvae {

struct CudaEngineOptions {
  std::string gpus = "all";  // or indices or UUIDs, separated by commas
  std::string form =
      "auto";  // few, tile, layered: forces the kernels; for tests and measurements, the bits are the same
};

// Uploads the model's weights to each GPU; sessions are spread over them in turn. FAILED_PRECONDITION if there is no
// GPU that can be used; INVALID_ARGUMENT for options that do not exist or a form that does not fit the model;
// RESOURCE_EXHAUSTED, with needed and free bytes, if the weights do not fit.
absl::StatusOr<std::unique_ptr<Engine>> NewCudaEngine(std::shared_ptr<const Model> model,
                                                      CudaEngineOptions options = {});

}  // namespace cvae

#endif  // CVAE_KERNELS_CUDA_ENGINE_H_
