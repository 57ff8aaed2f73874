#include "kernels/cuda/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/params.h"

namespace cvae::cuda {
namespace {

// Of kFew each block reads all weights for itself, so they must be few enough for the L2 cache to give them to all.
constexpr size_t kFewWeightBytes = size_t{4} << 20;
// Blocks of kFew an SM works on before kTile is faster.
constexpr int kFewBlocksPerMultiprocessor = 4;

// Bytes of a block's row references; params.h does not know the type.
constexpr size_t kRowRefBytes = 24;

size_t SharedBytes(const BufferWidths& widths, int rows, int stride) {
  return rows * kRowRefBytes + static_cast<size_t>(widths.a + widths.b) * stride * sizeof(float);
}

// The widths if the last `unwritten` stages of the decoder leave their output in registers.
BufferWidths Widths(const Network* encoder, const Network& decoder, size_t unwritten) {
  BufferWidths widths;
  int* reads = &widths.a;
  int* writes = &widths.b;
  const auto walk = [&](const Network& network, size_t stages) {
    *reads = std::max(*reads, network.in);
    for (size_t i = 0; i < stages; ++i) {
      *writes = std::max(*writes, network.stages[i].out);
      std::swap(reads, writes);
    }
  };
  if (encoder != nullptr) walk(*encoder, encoder->stages.size());
  std::swap(reads, writes);
  walk(decoder, decoder.stages.size() - std::min(unwritten, decoder.stages.size()));
  return widths;
}

size_t WeightBytes(const Network& network) {
  size_t floats = 0;
  for (const NetworkStage& stage : network.stages) {
    if (!stage.linears.empty()) floats += static_cast<size_t>(stage.in) * stage.out;
  }
  return floats * sizeof(float);
}

bool IsShort(const Network* network) { return network == nullptr || network->stages.size() <= kMaxFusedStages; }

}  // namespace

Plan MakePlan(const Network* encoder, const Network& decoder, const DeviceLimits& device) {
  Plan plan;
  plan.widths = Widths(encoder, decoder, 0);
  plan.tile_widths = Widths(encoder, decoder, 1);
  const bool is_short = IsShort(encoder) && IsShort(&decoder);
  plan.few_fits = is_short && SharedBytes(plan.widths, kFewRows, kFewStride) <= device.shared_bytes_per_block;
  plan.tile_fits = is_short && SharedBytes(plan.tile_widths, kTileRows, kTileStride) <= device.shared_bytes_per_block;
  const size_t weights = WeightBytes(decoder) + (encoder == nullptr ? 0 : WeightBytes(*encoder));
  if (plan.few_fits && weights <= kFewWeightBytes) {
    plan.few_rows = kFewRows * kFewBlocksPerMultiprocessor * device.multiprocessors;
  }
  return plan;
}

Form FormOf(const Plan& plan, ForcedForm forced, int rows) {
  switch (forced) {
    case ForcedForm::kFew:
      return Form::kFew;
    case ForcedForm::kTile:
      return Form::kTile;
    case ForcedForm::kLayered:
      return Form::kLayered;
    case ForcedForm::kAuto:
      break;
  }
  if (rows <= plan.few_rows) return Form::kFew;
  return plan.tile_fits ? Form::kTile : Form::kLayered;
}

absl::Status CheckForced(const Plan& plan, ForcedForm forced) {
  if ((forced == ForcedForm::kFew && !plan.few_fits) || (forced == ForcedForm::kTile && !plan.tile_fits)) {
    return absl::InvalidArgumentError(absl::StrCat("the model does not fit one launch of ",
                                                   forced == ForcedForm::kFew ? kFewRows : kTileRows,
                                                   " rows a block on this GPU; it can run layered"));
  }
  return absl::OkStatus();
}

std::string DescribePlan(const Plan& plan, ForcedForm forced) {
  switch (forced) {
    case ForcedForm::kFew:
      return "forced: one launch, 4 rows a block";
    case ForcedForm::kTile:
      return "forced: one launch, 64 rows a block";
    case ForcedForm::kLayered:
      return "forced: a launch a stage";
    case ForcedForm::kAuto:
      break;
  }
  const char* rest = plan.tile_fits ? "one launch, 64 rows a block" : "a launch a stage";
  if (plan.few_rows == 0) return rest;
  return absl::StrCat("up to ", plan.few_rows, " rows one launch, 4 rows a block; above ", rest);
}

}  // namespace cvae::cuda
