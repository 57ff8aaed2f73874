// Which engine serves a model: the flags' choice made into an engine.

#ifndef CVAE_KERNELS_CHOOSE_ENGINE_H_
#define CVAE_KERNELS_CHOOSE_ENGINE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/engine.h"

namespace cvae {

struct EngineChoice {
  std::string engine = "auto";  // "cuda", "cpu", or "auto": CUDA, and the CPU where no GPU can be used
  int threads = 0;              // as CpuEngineOptions
  std::string gpus = "all";     // as CudaEngineOptions
  std::string gpu_form = "auto";
};

struct ChosenEngine {
  std::unique_ptr<Engine> engine;
  std::string fallback;  // why "auto" took the CPU; empty if it did not
};

// An engine for the model. FAILED_PRECONDITION, and what to do, if "cuda" cannot be had; other errors are those of
// NewCpuEngine and NewCudaEngine: "auto" falls back for want of a GPU only, not for one that is full.
absl::StatusOr<ChosenEngine> ChooseEngine(std::shared_ptr<const Model> model, const EngineChoice& choice);

}  // namespace cvae

#endif  // CVAE_KERNELS_CHOOSE_ENGINE_H_
