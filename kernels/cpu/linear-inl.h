// y = x W^T + b for a few rows, in the canonical order: from the bias, k ascending, one accumulator an output,
// acc = fma(w, x, acc). Vector lanes span outputs, never k, so that a row's bits depend on nothing beside it.

#include <cstddef>

#include "kernels/cpu/forward.h"
#include "kernels/cpu/plan.h"
#include "kernels/numerics/numerics-inl.h"

#if defined(CVAE_KERNELS_CPU_LINEAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CVAE_KERNELS_CPU_LINEAR_INL_H_
#undef CVAE_KERNELS_CPU_LINEAR_INL_H_
#else
#define CVAE_KERNELS_CPU_LINEAR_INL_H_
#endif

// The accumulators live in registers only if every loop over them is unrolled.
#ifdef __clang__
#define CVAE_UNROLL _Pragma("unroll")
#else
#define CVAE_UNROLL _Pragma("GCC unroll 32")
#endif

HWY_BEFORE_NAMESPACE();
namespace cvae {
namespace HWY_NAMESPACE {

static_assert(cpu::kPanel % kLanes == 0);
inline constexpr int kPanelVectors = cpu::kPanel / kLanes;

// kRows x kPanels panels of accumulators: R * P * kPanelVectors registers.
template <int kRows, int kPanels>
struct Tile {
  static constexpr int kVectors = kPanels * kPanelVectors;

  VecF acc[kRows][kVectors];
  const float* weight[kPanels];  // [in, 16] of each panel

  HWY_INLINE Tile(const cpu::PackedLinear& linear, int panel) {
    CVAE_UNROLL for (int p = 0; p < kPanels; ++p) {
      weight[p] = linear.weight.get() + static_cast<size_t>(panel + p) * linear.in * cpu::kPanel;
    }
    CVAE_UNROLL for (int v = 0; v < kVectors; ++v) {
      const VecF bias = VecF::Load(linear.bias.get() + panel * cpu::kPanel + v * kLanes);
      CVAE_UNROLL for (int r = 0; r < kRows; ++r) acc[r][v] = bias;
    }
  }

  // The weights of input k.
  HWY_INLINE VecF Weight(size_t k, int v) const {
    return VecF::Load(weight[v / kPanelVectors] + k * cpu::kPanel + v % kPanelVectors * kLanes);
  }

  // Inputs [first, first + count), from each row's `in`.
  HWY_INLINE void AddInputs(size_t first, size_t count, const float* const (&in)[kRows]) {
    for (size_t k = 0; k < count; ++k) {
      VecF w[kVectors];
      CVAE_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = Weight(first + k, v);
      CVAE_UNROLL for (int r = 0; r < kRows; ++r) {
        const VecF x(in[r][k]);
        CVAE_UNROLL for (int v = 0; v < kVectors; ++v) acc[r][v] = Fma(w[v], x, acc[r][v]);
      }
    }
  }

  // One part of the condition: its inputs begin at `first`. A class id adds its column, which is what the one-hot's
  // products come to (w * 1 rounds nothing, w * 0 at most changes the sign of a zero).
  HWY_INLINE void AddPart(size_t first, const cpu::ConditionColumns& columns, size_t part, const cpu::RowInput* rows) {
    bool all_dense = true;
    for (int r = 0; r < kRows; ++r) all_dense &= rows[r].ids == nullptr || rows[r].ids[part] < 0;
    if (all_dense) {
      const float* in[kRows];
      for (int r = 0; r < kRows; ++r) in[r] = rows[r].y + columns.first;
      AddInputs(first, columns.width, in);
      return;
    }
    CVAE_UNROLL for (int r = 0; r < kRows; ++r) {
      if (rows[r].ids != nullptr && rows[r].ids[part] >= 0) {
        CVAE_UNROLL for (int v = 0; v < kVectors; ++v) acc[r][v] = acc[r][v] + Weight(first + rows[r].ids[part], v);
      } else {
        for (int k = 0; k < columns.width; ++k) {
          const VecF x(rows[r].y[columns.first + k]);
          CVAE_UNROLL for (int v = 0; v < kVectors; ++v) acc[r][v] = Fma(Weight(first + k, v), x, acc[r][v]);
        }
      }
    }
  }

  // + 0: the sign of a zero, all that a skipped product can have changed, is gone.
  HWY_INLINE void Store(float* out, size_t stride) const {
    CVAE_UNROLL for (int r = 0; r < kRows; ++r) {
      CVAE_UNROLL for (int v = 0; v < kVectors; ++v)(acc[r][v] + VecF(0.0f)).Store(out + r * stride + v * kLanes);
    }
  }
};

// Panels [panel, panel + kPanels) of kRows rows. `condition`: null where the linear reads no condition.
template <int kRows, int kPanels>
HWY_NOINLINE void RunTile(const cpu::PackedLinear& linear, int panel, size_t dense, const cpu::RowInput* rows,
                          const std::vector<cpu::ConditionColumns>* condition, float* out, size_t stride) {
  Tile<kRows, kPanels> tile(linear, panel);
  const float* in[kRows];
  CVAE_UNROLL for (int r = 0; r < kRows; ++r) in[r] = rows[r].dense;
  tile.AddInputs(0, dense, in);
  if (condition != nullptr) {
    for (size_t part = 0; part < condition->size(); ++part) {
      tile.AddPart(dense + (*condition)[part].first, (*condition)[part], part, rows);
    }
  }
  tile.Store(out + panel * cpu::kPanel, stride);
}

// All panels of kRows rows, kPanels at a time.
template <int kRows, int kPanels>
void RunRows(const cpu::PackedLinear& linear, size_t dense, const cpu::RowInput* rows,
             const std::vector<cpu::ConditionColumns>* condition, float* out, size_t stride) {
  int panel = 0;
  for (; panel + kPanels <= linear.panels; panel += kPanels) {
    RunTile<kRows, kPanels>(linear, panel, dense, rows, condition, out, stride);
  }
  if constexpr (kPanels > 1) {
    for (; panel < linear.panels; ++panel) RunTile<kRows, 1>(linear, panel, dense, rows, condition, out, stride);
  }
}

// Rows of a register tile for a full block, and panels for it and for its remainders. Of 32 registers a tile of 12 x 2
// takes 24 for accumulators, of 16 one of 6 x 1 (two vectors a panel) takes 12; few rows take more panels, to keep
// enough independent sums in flight.
inline constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3;
inline constexpr int kTileRows = kManyRegisters ? 12 : 6;
inline constexpr int kTilePanels = kManyRegisters ? 2 : 1;
inline constexpr int kFewRowsPanels = kManyRegisters ? 4 : 2;
inline constexpr int kOneRowPanels = kManyRegisters ? 8 : 4;

// out [count, stride] = the linear of `count` rows. Rows read `dense` columns of their own, then the condition's.
inline void RunLinear(const cpu::PackedLinear& linear, size_t dense, int count, const cpu::RowInput* rows,
                      const std::vector<cpu::ConditionColumns>* condition, float* out, size_t stride) {
  int row = 0;
  for (; row + kTileRows <= count; row += kTileRows) {
    RunRows<kTileRows, kTilePanels>(linear, dense, rows + row, condition, out + row * stride, stride);
  }
  for (; row + 4 <= count; row += 4) {
    RunRows<4, kTilePanels>(linear, dense, rows + row, condition, out + row * stride, stride);
  }
  for (; row + 2 <= count; row += 2) {
    RunRows<2, kFewRowsPanels>(linear, dense, rows + row, condition, out + row * stride, stride);
  }
  for (; row < count; ++row) {
    RunRows<1, kOneRowPanels>(linear, dense, rows + row, condition, out + row * stride, stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cvae
HWY_AFTER_NAMESPACE();

#undef CVAE_UNROLL

#endif  // per-target guard
