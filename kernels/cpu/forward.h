// The forward pass of a block of rows, once for each instruction set.

#ifndef CVAE_KERNELS_CPU_FORWARD_H_
#define CVAE_KERNELS_CPU_FORWARD_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hwy/aligned_allocator.h"
#include "kernels/cpu/plan.h"
#include "kernels/engine.h"

namespace cvae::cpu {

// Rows of a block: enough to reuse a panel of weights from the L1 cache, few enough for their activations to stay in
// the L2. A multiple of every register tile's rows.
inline constexpr int kBlockRows = 48;

// What one row's layers read: x or z, and its condition.
struct RowInput {
  const float* dense = nullptr;
  const float* y = nullptr;      // [L]; may be null if every part has an id
  const int32_t* ids = nullptr;  // [parts]; null: none has
};

// One thread's working memory for a block.
class Scratch {
 public:
  explicit Scratch(const Plan& plan);

  int stride = 0;                            // floats from a row of `front` and `back` to the next
  int head_stride = 0;                       // of `head`
  int latent_stride = 0;                     // of `z`
  hwy::AlignedFreeUniquePtr<float[]> front;  // [kBlockRows, stride], what a stage reads
  hwy::AlignedFreeUniquePtr<float[]> back;   // the same, what it writes
  hwy::AlignedFreeUniquePtr<float[]> head;   // [kBlockRows, head_stride], mu and logvar
  hwy::AlignedFreeUniquePtr<float[]> z;      // [kBlockRows, latent_stride]
};

// A computed row of a batch.
struct RowRef {
  const RowSpan* span;
  uint32_t index;  // in its span
};

// Computes the rows and writes their wanted outputs; at most kBlockRows of them, each span's ascending.
using RunBlockFunction = void (*)(const Plan& plan, absl::Span<const RowRef> rows, Scratch& scratch);

// One instruction set's code.
struct Kernels {
  const char* name;  // "AVX3", as Highway calls it
  int64_t target;    // Highway's bit
  RunBlockFunction run_block;
};

// The code of the best instruction set of this machine, among `allowed` (bits of Highway's targets; 0: any).
Kernels ChooseKernels(int64_t allowed);

// Every instruction set that is compiled in and that this machine runs.
std::vector<Kernels> AllKernels();

}  // namespace cvae::cpu

#endif  // CVAE_KERNELS_CPU_FORWARD_H_
