// Linked into cvae-faulty-server in place of choose_engine.cc: the CPU engine on a device that callers can break. Two
// seeds of a request are its controls (test_fault.py has them too); all others are computed as ever.

#include <memory>
#include <utility>

#include "base/mutex.h"
#include "base/status_macros.h"
#include "kernels/choose_engine.h"
#include "kernels/cpu/engine.h"

namespace cvae {
namespace {

constexpr uint64_t kBreakSeed = 666;  // its run breaks the device
constexpr uint64_t kHoldSeed = 667;   // its run lasts until the device is broken

// All models' engines are on one device. As of CUDA's sticky errors: once broken, every run of every lane fails.
// Thread-safe.
class Device {
 public:
  void Break() {
    MutexLock lock(mutex_);
    broken_ = true;
    changed_.NotifyAll();
  }
  void AwaitBroken() {
    MutexLock lock(mutex_);
    while (!broken_) changed_.Wait(mutex_);
  }
  absl::Status status() const {
    MutexLock lock(mutex_);
    return broken_ ? absl::InternalError("the device fell off the bus") : absl::OkStatus();
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
};

class FaultySession : public Session {
 public:
  FaultySession(std::unique_ptr<Session> session, Device* device) : session_(std::move(session)), device_(device) {}
  absl::Span<std::byte> staging() override { return session_->staging(); }
  absl::Status Run(absl::Span<const RowSpan> spans) override {
    if (Has(spans, kBreakSeed)) device_->Break();
    if (Has(spans, kHoldSeed)) device_->AwaitBroken();
    CVAE_RETURN_IF_ERROR(device_->status());
    return session_->Run(spans);
  }

 private:
  static bool Has(absl::Span<const RowSpan> spans, uint64_t seed) {
    for (const RowSpan& span : spans) {
      if (span.noise == Noise::kSeed && span.seed == seed) return true;
    }
    return false;
  }

  const std::unique_ptr<Session> session_;
  Device* const device_;
};

class FaultyEngine : public Engine {
 public:
  FaultyEngine(std::unique_ptr<Engine> engine, Device* device) : engine_(std::move(engine)), device_(device) {}
  std::shared_ptr<const Model> shared_model() const override { return engine_->shared_model(); }
  EngineInfo Describe() const override { return engine_->Describe(); }
  absl::StatusOr<std::unique_ptr<Session>> NewSession(int max_rows) override {
    CVAE_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, engine_->NewSession(max_rows));
    return std::make_unique<FaultySession>(std::move(session), device_);
  }

 private:
  const std::unique_ptr<Engine> engine_;
  Device* const device_;
};

}  // namespace

absl::StatusOr<ChosenEngine> ChooseEngine(std::shared_ptr<const Model> model, const EngineChoice& choice) {
  static Device* const device = new Device;  // never destroyed, like the server that uses it
  CVAE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, NewCpuEngine(std::move(model), {choice.threads}));
  return ChosenEngine{std::make_unique<FaultyEngine>(std::move(engine), device), ""};
}

}  // namespace cvae
