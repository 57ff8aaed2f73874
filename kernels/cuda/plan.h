// Which kernels run a model: a pure function of its layers and of the device's limits.

#ifndef CVAE_KERNELS_CUDA_PLAN_H_
#define CVAE_KERNELS_CUDA_PLAN_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/cuda/params.h"
#include "kernels/network.h"

namespace cvae::cuda {

struct DeviceLimits {
  int multiprocessors = 0;
  size_t shared_bytes_per_block = 0;  // the most a block may ask for
};

// How the rows of a batch are computed. Bits are the same in all.
enum class Form {
  kFew,      // one launch, 4 rows a block: least time for few rows
  kTile,     // one launch, 64 rows a block: most rows a second
  kLayered,  // a launch a stage, activations in device memory: any model
};

// What a user may ask for.
enum class ForcedForm { kAuto, kFew, kTile, kLayered };

struct Plan {
  BufferWidths widths;
  BufferWidths tile_widths;  // of kTile, whose last stage goes from registers to the answer
  bool few_fits = false;
  bool tile_fits = false;
  int few_rows = 0;  // batches of up to this many rows take kFew
};

// `encoder` null: a decoder alone.
Plan MakePlan(const Network* encoder, const Network& decoder, const DeviceLimits& device);

// The form of a batch of `rows` rows. REQUIRES that a forced form fits.
Form FormOf(const Plan& plan, ForcedForm forced, int rows);

// INVALID_ARGUMENT if the form does not fit the model.
absl::Status CheckForced(const Plan& plan, ForcedForm forced);

// For the log: "one launch (4 rows a block up to 2112 rows, else 64)".
std::string DescribePlan(const Plan& plan, ForcedForm forced);

}  // namespace cvae::cuda

#endif  // CVAE_KERNELS_CUDA_PLAN_H_
