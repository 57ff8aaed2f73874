// Owned memory of a GPU and memory of the host that the GPU reads and writes.

#ifndef CVAE_KERNELS_CUDA_MEMORY_H_
#define CVAE_KERNELS_CUDA_MEMORY_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/cuda/device.h"

namespace cvae::cuda {

struct FreeDevice {
  void operator()(std::byte* p) const { cudaFree(p); }
};
struct FreePinned {
  void operator()(std::byte* p) const { cudaFreeHost(p); }
};
using DeviceMemory = std::unique_ptr<std::byte, FreeDevice>;
using PinnedMemory = std::unique_ptr<std::byte, FreePinned>;  // the same address on host and device

// `bytes` of the current device's memory, not initialized. RESOURCE_EXHAUSTED, with needed and free bytes, if it has
// not so much.
inline absl::StatusOr<DeviceMemory> AllocateDevice(size_t bytes, const std::string& what) {
  size_t free = 0, total = 0;
  CVAE_RETURN_IF_CUDA_ERROR(cudaMemGetInfo(&free, &total));
  void* p = nullptr;
  const cudaError_t error = bytes > free ? cudaErrorMemoryAllocation : cudaMalloc(&p, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not the next launch's
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", bytes, " bytes of GPU memory, ", free, " are free"));
  }
  CVAE_RETURN_IF_CUDA_ERROR(error);
  return DeviceMemory(static_cast<std::byte*>(p));
}

// `bytes` of host memory that every device may use at the same address.
inline absl::StatusOr<PinnedMemory> AllocatePinned(size_t bytes, const std::string& what) {
  void* p = nullptr;
  const cudaError_t error = cudaHostAlloc(&p, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", bytes, " bytes of page-locked memory, more than there is"));
  }
  CVAE_RETURN_IF_CUDA_ERROR(error);
  return PinnedMemory(static_cast<std::byte*>(p));
}

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_MEMORY_H_
