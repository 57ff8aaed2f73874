#include "kernels/cuda/device.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/quote.h"

namespace cvae::cuda {
namespace {

std::string UuidOf(const cudaUUID_t& uuid) {
  const auto* b = reinterpret_cast<const unsigned char*>(uuid.bytes);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    absl::StrAppend(&text, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", absl::Hex(b[i], absl::kZeroPad2));
  }
  return text;
}

absl::StatusOr<Device> Describe(int index) {
  cudaDeviceProp properties;
  CVAE_RETURN_IF_CUDA_ERROR(cudaGetDeviceProperties(&properties, index));
  Device device;
  device.index = index;
  device.name = properties.name;
  device.uuid = UuidOf(properties.uuid);
  device.major = properties.major;
  device.minor = properties.minor;
  device.limits = {properties.multiProcessorCount, properties.sharedMemPerBlockOptin};
  return device;
}

absl::StatusOr<std::vector<Device>> AllDevices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    return absl::FailedPreconditionError(
        driver == 0
            ? std::string("no NVIDIA driver on this machine; install one, or use --engine=cpu")
            : absl::StrFormat("the NVIDIA driver is for CUDA %d.%d, this build needs %d.%d; update the driver, "
                              "or use --engine=cpu",
                              driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    return absl::FailedPreconditionError(
        "no GPU that CUDA sees; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --engine=cpu");
  }
  if (error != cudaSuccess) {
    return absl::FailedPreconditionError(
        absl::StrCat("the NVIDIA driver does not work: ", cudaGetErrorString(error), "; check nvidia-smi"));
  }
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    CVAE_ASSIGN_OR_RETURN(Device device, Describe(i));
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace

absl::Status ToStatus(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("CUDA: ", call, ": ", cudaGetErrorName(error), ", ", cudaGetErrorString(error)));
}

absl::StatusOr<std::vector<Device>> ChooseDevices(const std::string& gpus) {
  CVAE_ASSIGN_OR_RETURN(std::vector<Device> all, AllDevices());
  if (gpus == "all") return all;
  std::vector<Device> chosen;
  for (const absl::string_view name : absl::StrSplit(gpus, ',')) {
    int index = -1;
    const bool is_index = absl::SimpleAtoi(name, &index);
    const auto found = std::find_if(all.begin(), all.end(), [&](const Device& device) {
      return is_index ? device.index == index : device.uuid == name;
    });
    if (found == all.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--gpus: got ", Quote(std::string(name)), ", expected all, or of ",
                                                     absl::StrJoin(all, ", ", [](std::string* out, const Device& d) {
                                                       absl::StrAppend(out, d.index, " (", d.uuid, ")");
                                                     })));
    }
    if (std::any_of(chosen.begin(), chosen.end(), [&](const Device& d) { return d.index == found->index; })) {
      return absl::InvalidArgumentError(absl::StrCat("--gpus: names ", Quote(std::string(name)), " twice"));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

}  // namespace cvae::cuda
