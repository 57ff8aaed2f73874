#include "kernels/cuda/engine.h"

#include <atomic>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/forward.h"
#include "kernels/cuda/session.h"
#include "kernels/numerics/revision.h"

namespace cvae {
namespace {

using cuda::ForcedForm;
using cuda::OnDevice;

absl::StatusOr<ForcedForm> ParseForm(const std::string& name) {
  if (name == "auto") return ForcedForm::kAuto;
  if (name == "few") return ForcedForm::kFew;
  if (name == "tile") return ForcedForm::kTile;
  if (name == "layered") return ForcedForm::kLayered;
  return absl::InvalidArgumentError(absl::StrCat("form: got ", Quote(name), ", expected auto, few, tile or layered"));
}

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  absl::Status AddDevice(const cuda::Device& device, ForcedForm forced) {
    CVAE_RETURN_IF_CUDA_ERROR(cudaSetDevice(device.index));
    std::optional<Network> encoder;
    if (model_->encoder) encoder = EncoderNetwork(*model_);
    const Network* const encoder_or_null = encoder ? &*encoder : nullptr;
    const Network decoder = DecoderNetwork(*model_);
    auto on = std::make_unique<OnDevice>();
    on->device = device;
    on->plan = cuda::MakePlan(encoder_or_null, decoder, device.limits);
    on->forced = forced;
    CVAE_RETURN_IF_ERROR(cuda::CheckForced(on->plan, forced));
    CVAE_ASSIGN_OR_RETURN(on->resident, cuda::Upload(*model_, encoder_or_null, decoder, on->plan));
    const cuda::ModelParams& params = on->resident.params;
    const cudaError_t error = cuda::PrepareFused(on->plan.tile_fits ? cuda::TileSharedBytes(params) : 0,
                                                 on->plan.few_fits ? cuda::FewSharedBytes(params) : 0);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
        error == cudaErrorUnsupportedPtxVersion) {
      return absl::FailedPreconditionError(absl::StrCat(
          "GPU ", device.index, " (", device.name, ", compute capability ", device.major, ".", device.minor,
          "): this build has no kernels for it; build with -DCVAE_CUDA_ARCHITECTURES=", device.major, device.minor,
          ", or use --engine=cpu"));
    }
    CVAE_RETURN_IF_CUDA_ERROR(error);
    devices_.push_back(std::move(on));
    return absl::OkStatus();
  }

  std::shared_ptr<const Model> shared_model() const override { return model_; }

  EngineInfo Describe() const override {
    const std::string names = absl::StrJoin(devices_, ", ", [](std::string* out, const auto& on) {
      absl::StrAppend(out, on->device.name, " (GPU ", on->device.index, ")");
    });
    EngineInfo info;
    info.engine = "cuda";
    info.device = names;
    info.precision = "fp32";
    info.revision = absl::StrCat("fp32.n", kNumericsRevision);
    info.plan = cuda::DescribePlan(devices_.front()->plan, devices_.front()->forced);
    info.devices = static_cast<int>(devices_.size());
    return info;
  }

  absl::StatusOr<std::unique_ptr<Session>> NewSession(int max_rows) override {
    const OnDevice& on = *devices_[next_.fetch_add(1) % devices_.size()];
    return cuda::NewCudaSession(*model_, on, max_rows);
  }

 private:
  const std::shared_ptr<const Model> model_;
  std::vector<std::unique_ptr<OnDevice>> devices_;  // at least one, fixed when the engine is handed out
  std::atomic<uint32_t> next_{0};                   // device of the next session
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> NewCudaEngine(std::shared_ptr<const Model> model, CudaEngineOptions options) {
  CVAE_ASSIGN_OR_RETURN(const ForcedForm forced, ParseForm(options.form));
  CVAE_ASSIGN_OR_RETURN(const std::vector<cuda::Device> devices, cuda::ChooseDevices(options.gpus));
  auto engine = std::make_unique<CudaEngine>(std::move(model));
  for (const cuda::Device& device : devices) CVAE_RETURN_IF_ERROR(engine->AddDevice(device, forced));
  return engine;
}

}  // namespace cvae
