// The CPU engine: our own SIMD micro-kernels in the canonical order, the widest instruction set of the machine chosen
// at run time, rows spread over the cores that affinity and cgroup quota allow.

#ifndef CVAE_KERNELS_CPU_ENGINE_H_
#define CVAE_KERNELS_CPU_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/engine.h"

namespace cvae {

struct CpuEngineOptions {
  int threads = 0;      // that a run may use; 0: UsableCpus()
  int64_t targets = 0;  // Highway's bits of the instruction sets it may use; 0: all. For tests: the bits are the same
};

// Packs the model's weights and starts the threads. INVALID_ARGUMENT for a negative `threads`.
absl::StatusOr<std::unique_ptr<Engine>> NewCpuEngine(std::shared_ptr<const Model> model, CpuEngineOptions options = {});

// Processors this process may use: its affinity mask, limited by the cgroup's CPU quota (v1 or v2) rounded up. At
// least 1.
int UsableCpus();

}  // namespace cvae

#endif  // CVAE_KERNELS_CPU_ENGINE_H_
