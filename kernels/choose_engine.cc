#include "kernels/choose_engine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/cpu/engine.h"
#ifdef CVAE_WITH_CUDA
#include "kernels/cuda/engine.h"
#endif

namespace cvae {
namespace {

absl::StatusOr<std::unique_ptr<Engine>> Cuda(std::shared_ptr<const Model> model, const EngineChoice& choice) {
#ifdef CVAE_WITH_CUDA
  return NewCudaEngine(std::move(model), {choice.gpus, choice.gpu_form});
#else
  (void)model, (void)choice;
  return absl::FailedPreconditionError("this build has no CUDA engine (nvcc was not found); use --engine=cpu");
#endif
}

}  // namespace

absl::StatusOr<ChosenEngine> ChooseEngine(std::shared_ptr<const Model> model, const EngineChoice& choice) {
  ChosenEngine chosen;
  if (choice.engine != "cpu") {
    auto cuda = Cuda(model, choice);
    if (cuda.ok()) {
      chosen.engine = *std::move(cuda);
      return chosen;
    }
    if (choice.engine == "cuda" || !absl::IsFailedPrecondition(cuda.status())) {
      return absl::Status(cuda.status().code(),
                          absl::StrCat("--engine=", choice.engine, ": ", cuda.status().message()));
    }
    chosen.fallback = std::string(cuda.status().message());
  }
  CVAE_ASSIGN_OR_RETURN(chosen.engine, NewCpuEngine(std::move(model), {choice.threads}));
  return chosen;
}

}  // namespace cvae
