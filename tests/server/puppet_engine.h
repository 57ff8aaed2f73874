// An engine on strings: it computes nothing, holds every run until it is told how they end, and remembers what it ran.

#ifndef CVAE_TESTS_SERVER_PUPPET_ENGINE_H_
#define CVAE_TESTS_SERVER_PUPPET_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "kernels/engine.h"
#include "tests/kernels/model/model_file.h"

namespace cvae {

// Thread-safe.
class Puppet {
 public:
  // What a run had of a request, which is told by its seed.
  struct Ran {
    uint64_t seed;
    uint32_t count;
    bool operator==(const Ran& other) const { return seed == other.seed && count == other.count; }
  };
  using Batch = std::vector<Ran>;

  absl::Status Run(absl::Span<const RowSpan> spans) {
    MutexLock lock(mutex_);
    Batch& batch = batches_.emplace_back();
    for (const RowSpan& span : spans) batch.push_back({span.seed, span.count});
    ++running_;
    changed_.NotifyAll();
    while (!open_) changed_.Wait(mutex_);
    return outcome_;
  }

  // Until this many runs have begun since Hold.
  void AwaitRunning(int runs) {
    MutexLock lock(mutex_);
    while (running_ < runs) changed_.Wait(mutex_);
  }

  // Runs end so, those under way and those to come.
  void LetGo(absl::Status outcome) {
    MutexLock lock(mutex_);
    open_ = true;
    outcome_ = std::move(outcome);
    changed_.NotifyAll();
  }

  // Runs do not end.
  void Hold() {
    MutexLock lock(mutex_);
    open_ = false;
    running_ = 0;
    batches_.clear();
  }

  // What ran since Hold.
  std::vector<Batch> batches() const {
    MutexLock lock(mutex_);
    return batches_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;  // the warming run passes
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status outcome_ ABSL_GUARDED_BY(mutex_);
  std::vector<Batch> batches_ ABSL_GUARDED_BY(mutex_);
};

class PuppetSession : public Session {
 public:
  PuppetSession(Puppet* puppet, size_t bytes) : puppet_(puppet), memory_(bytes) {}
  absl::Span<std::byte> staging() override { return absl::MakeSpan(memory_); }
  absl::Status Run(absl::Span<const RowSpan> spans) override { return puppet_->Run(spans); }

 private:
  Puppet* const puppet_;
  std::vector<std::byte> memory_;
};

class PuppetEngine : public Engine {
 public:
  explicit PuppetEngine(Puppet* puppet) : puppet_(puppet) {}
  std::shared_ptr<const Model> shared_model() const override { return model_; }
  EngineInfo Describe() const override { return {"puppet", "strings", "fp32", "fp32.n0", "", 1}; }
  absl::StatusOr<std::unique_ptr<Session>> NewSession(int max_rows) override {
    return std::make_unique<PuppetSession>(puppet_, StagingBytes(*model_, max_rows));
  }

 private:
  Puppet* const puppet_;
  const std::shared_ptr<const Model> model_ =
      std::make_shared<const Model>(*ParseModel(*Safetensors::Parse(ReferenceFile().Bytes())));
};

}  // namespace cvae

#endif  // CVAE_TESTS_SERVER_PUPPET_ENGINE_H_
