// A model as the CPU engine runs it: weights packed for vectors, layer lists as stages.

#ifndef CVAE_KERNELS_CPU_PLAN_H_
#define CVAE_KERNELS_CPU_PLAN_H_

#include <memory>
#include <vector>

#include "hwy/aligned_allocator.h"
#include "kernels/model/model.h"

namespace cvae::cpu {

inline constexpr int kPanel = 16;  // outputs side by side: one vector of AVX-512, two of AVX2

// `n` rounded up to whole panels, the width of every scratch row.
inline constexpr int PaddedWidth(int n) { return (n + kPanel - 1) / kPanel * kPanel; }

// A Linear's weights in panels: panel p holds outputs [16 p, 16 p + 16), for each input k its 16 weights side by side.
// Missing outputs of the last panel are zeros.
struct PackedLinear {
  int in = 0;
  int out = 0;
  int panels = 0;
  hwy::AlignedFreeUniquePtr<float[]> weight;  // [panels, in, 16]
  hwy::AlignedFreeUniquePtr<float[]> bias;    // [panels, 16]
};

// Packs linears that read the same input as one with their outputs side by side.
PackedLinear Pack(const std::vector<const Linear*>& linears);

// One step of a layer list: a linear, if any, and an activation.
struct Stage {
  std::unique_ptr<PackedLinear> linear;
  Activation activation = Activation::kIdentity;
};

// A layer list. Its first stage reads a concatenation, [x, y] or [z, y]: without making it in memory if the stage has a
// linear, else copied together.
struct PackedNetwork {
  int in = 0;     // width of the concatenation
  int dense = 0;  // its columns of x or z; the condition's are the rest
  std::vector<Stage> stages;
  // The activation of the output, kept apart from the last stage: bce reads what is before it.
  Activation output = Activation::kIdentity;
  int out = 0;
  int max_width = 0;  // of anything between, padded
};

struct ConditionColumns {
  int first = 0;  // column in y
  int width = 0;
};

struct Plan {
  explicit Plan(const Model& model);

  bool has_encoder = false;
  PackedNetwork encoder;  // its output: mu and logvar side by side, [2 Z]
  PackedNetwork decoder;
  std::vector<ConditionColumns> condition;
  int input_width = 0;      // D
  int condition_width = 0;  // L
  int latent_width = 0;     // Z
  int output_width = 0;     // O
  LatentSpec latent;
  bool bce = false;
};

}  // namespace cvae::cpu

#endif  // CVAE_KERNELS_CPU_PLAN_H_
