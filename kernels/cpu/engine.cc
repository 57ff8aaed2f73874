#include "kernels/cpu/engine.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hwy/aligned_allocator.h"
#include "kernels/cpu/forward.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/numerics/revision.h"

namespace cvae {
namespace {

using cpu::kBlockRows;

// "AVX-512, 2 threads"
std::string DeviceName(const cpu::Kernels& kernels, int threads) {
  std::string instructions = kernels.name;
  if (instructions == "AVX3") instructions = "AVX-512";  // Highway's name for its common subset
  return absl::StrCat(instructions, ", ", threads, threads == 1 ? " thread" : " threads");
}

class CpuSession final : public Session {
 public:
  CpuSession(const cpu::Plan& plan, const cpu::Kernels& kernels, ThreadPool* pool, int threads, size_t staging_bytes,
             int max_rows)
      : plan_(plan),
        kernels_(kernels),
        pool_(pool),
        threads_(threads),
        staging_bytes_(staging_bytes),
        staging_(hwy::AllocateAligned<std::byte>(std::max<size_t>(1, staging_bytes))) {
    rows_.reserve(max_rows);
    for (int i = 0; i < threads; ++i) scratch_.push_back(std::make_unique<cpu::Scratch>(plan));
  }

  absl::Span<std::byte> staging() override { return {staging_.get(), staging_bytes_}; }

  absl::Status Run(absl::Span<const RowSpan> spans) override {
    rows_.clear();
    for (const RowSpan& span : spans) {
      for (uint32_t i = 0; i < span.count; ++i) rows_.push_back({&span, i});
    }
    const int rows = static_cast<int>(rows_.size());
    const int block = BlockRows(rows);
    pool_->ParallelFor((rows + block - 1) / block, [&](int index, int slot) {
      const absl::Span<const cpu::RowRef> all = rows_;
      kernels_.run_block(plan_, all.subspan(static_cast<size_t>(index) * block, block), *scratch_[slot]);
    });
    return absl::OkStatus();
  }

 private:
  // Rows a block: full blocks, but never so few blocks that a thread has none. Whole register tiles; a row's bits do
  // not depend on it.
  int BlockRows(int rows) const {
    constexpr int kTile = 12;
    const int share = (rows + threads_ - 1) / threads_;
    return std::clamp((share + kTile - 1) / kTile * kTile, kTile, kBlockRows);
  }

  const cpu::Plan& plan_;
  const cpu::Kernels kernels_;
  ThreadPool* const pool_;
  const int threads_;
  const size_t staging_bytes_;
  const hwy::AlignedFreeUniquePtr<std::byte[]> staging_;
  std::vector<cpu::RowRef> rows_;
  std::vector<std::unique_ptr<cpu::Scratch>> scratch_;  // a thread each
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(std::shared_ptr<const Model> model, int threads, int64_t targets)
      : model_(std::move(model)),
        plan_(*model_),
        kernels_(cpu::ChooseKernels(targets)),
        threads_(threads),
        pool_(threads) {}

  std::shared_ptr<const Model> shared_model() const override { return model_; }

  EngineInfo Describe() const override {
    EngineInfo info;
    info.engine = "cpu";
    info.device = DeviceName(kernels_, threads_);
    info.precision = "fp32";
    info.revision = absl::StrCat("fp32.n", kNumericsRevision);
    return info;
  }

  absl::StatusOr<std::unique_ptr<Session>> NewSession(int max_rows) override {
    const size_t bytes = StagingBytes(*model_, max_rows);
    try {
      return std::make_unique<CpuSession>(plan_, kernels_, &pool_, threads_, bytes, max_rows);
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError(absl::StrCat("a lane for batches of ", max_rows, " rows needs ", bytes,
                                                       " bytes of staging, more than there is"));
    }
  }

 private:
  const std::shared_ptr<const Model> model_;
  const cpu::Plan plan_;
  const cpu::Kernels kernels_;
  const int threads_;
  ThreadPool pool_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> NewCpuEngine(std::shared_ptr<const Model> model, CpuEngineOptions options) {
  if (options.threads < 0) {
    return absl::InvalidArgumentError(absl::StrCat("threads: got ", options.threads, ", expected at least 0"));
  }
  const int threads = options.threads == 0 ? UsableCpus() : options.threads;
  return std::make_unique<CpuEngine>(std::move(model), threads, options.targets);
}

}  // namespace cvae
