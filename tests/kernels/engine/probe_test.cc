// The probe's replay, on an engine that computes as the plain reference does and then spoils what a test wants spoiled.

#include "kernels/probe.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/reference/reference.h"

namespace cvae {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Spoil = std::function<absl::Status(const RowSpan&)>;

class FakeSession : public Session {
 public:
  FakeSession(const Model& model, int max_rows, Spoil spoil)
      : model_(model), max_rows_(max_rows), spoil_(std::move(spoil)) {}

  absl::Span<std::byte> staging() override {
    const size_t bytes = StagingBytes(model_, max_rows_);
    const size_t begin = -reinterpret_cast<uintptr_t>(memory_.get()) % kStagingAlign;
    return {memory_.get() + begin, bytes};
  }

  absl::Status Run(absl::Span<const RowSpan> spans) override {
    int rows = 0;
    for (const RowSpan& span : spans) {
      rows += static_cast<int>(span.count);
      for (const float* input : {span.x, span.eps, span.encode_condition.y, span.decode_condition.y}) {
        if (input != nullptr) ExpectStaged(input);
      }
      RunReference(model_, span);
      if (absl::Status status = spoil_(span); !status.ok()) return status;
    }
    EXPECT_LE(rows, max_rows_);
    return absl::OkStatus();
  }

 private:
  void ExpectStaged(const float* input) {
    const auto* place = reinterpret_cast<const std::byte*>(input);
    EXPECT_GE(place, staging().data());
    EXPECT_LT(place, staging().data() + staging().size());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(input) % kStagingAlign, 0u);
  }

  const Model& model_;
  const int max_rows_;
  const Spoil spoil_;
  const std::unique_ptr<std::byte[]> memory_ =
      std::make_unique<std::byte[]>(StagingBytes(model_, max_rows_) + kStagingAlign);
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(
      Model model, Spoil spoil = [](const RowSpan&) { return absl::OkStatus(); })
      : model_(std::make_shared<const Model>(std::move(model))), spoil_(std::move(spoil)) {}

  std::shared_ptr<const Model> shared_model() const override { return model_; }
  EngineInfo Describe() const override { return {}; }
  absl::StatusOr<std::unique_ptr<Session>> NewSession(int max_rows) override {
    if (no_memory) return absl::ResourceExhaustedError("no memory");
    ++sessions;
    return std::make_unique<FakeSession>(*model_, max_rows, spoil_);
  }

  bool no_memory = false;
  int sessions = 0;

 private:
  const std::shared_ptr<const Model> model_;
  const Spoil spoil_;
};

std::vector<float> Ramp(size_t count, float step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = step * static_cast<float>(i % 11) - 0.3f;
  return values;
}

Linear MakeLinear(int in, int out) {
  return {"linear", in, out, Ramp(static_cast<size_t>(in) * out, 0.09f), Ramp(out, 0.1f)};
}

// D 5, L 3, Z 2 and O 7 (not as wide as D: x is no target), and a probe with the reference's answers.
Model Probed(bool encoder, bool condition) {
  constexpr int kRows = 4;
  Model model;
  model.input_width = 5;
  model.latent_width = 2;
  model.output_width = 7;
  if (condition) {
    model.condition_width = 3;
    model.condition.push_back({"part", 3, true, {}});
  }
  if (encoder) {
    const int hidden = 6;
    model.encoder = Encoder{{MakeLinear(5 + model.condition_width, hidden), Activation::kRelu},
                            MakeLinear(hidden, 2),
                            MakeLinear(hidden, 2)};
  }
  model.decoder = {MakeLinear(2 + model.condition_width, 7)};
  Probe probe;
  probe.rows = kRows;
  probe.condition = Ramp(kRows * model.condition_width, 0.4f);
  probe.eps = Ramp(kRows * 2, 0.3f);
  probe.x_hat.resize(kRows * 7);
  if (encoder) {
    probe.x = Ramp(kRows * 5, 0.2f);
    probe.mu.resize(kRows * 2);
    probe.logvar.resize(kRows * 2);
  }
  RowSpan span;
  span.pass = encoder ? Pass::kForward : Pass::kDecode;
  span.count = kRows;
  span.noise = Noise::kEps;
  span.x = encoder ? probe.x.data() : nullptr;
  span.eps = probe.eps.data();
  span.encode_condition.y = span.decode_condition.y = condition ? probe.condition.data() : nullptr;
  span.mu = encoder ? probe.mu.data() : nullptr;
  span.logvar = encoder ? probe.logvar.data() : nullptr;
  span.x_hat = probe.x_hat.data();
  RunReference(model, span);
  model.probe = std::move(probe);
  return model;
}

// Scales `count` values by 1 + relative: their relative norm's error.
void Scale(float* values, size_t count, float relative) {
  for (size_t i = 0; i < count; ++i) values[i] *= 1 + relative;
}

TEST(ReplayProbe, IsOkWithoutAProbe) {
  Model model = Probed(true, true);
  model.probe.reset();
  FakeEngine engine(std::move(model));
  EXPECT_EQ(ReplayProbe(engine), absl::OkStatus());
  EXPECT_EQ(engine.sessions, 0);
}

TEST(ReplayProbe, IsOkWhereTheAnswersAreRight) {
  for (const bool encoder : {true, false}) {
    for (const bool condition : {true, false}) {
      FakeEngine engine(Probed(encoder, condition), [&](const RowSpan& span) {
        EXPECT_EQ(span.pass, encoder ? Pass::kForward : Pass::kDecode);
        EXPECT_EQ(span.encode_condition.y != nullptr, condition);
        return absl::OkStatus();
      });
      EXPECT_EQ(ReplayProbe(engine), absl::OkStatus()) << encoder << condition;
      EXPECT_EQ(engine.sessions, 1);
    }
  }
}

TEST(ReplayProbe, NamesTheOutputItsErrorAndTheTolerance) {
  FakeEngine mu(Probed(true, true), [](const RowSpan& span) { return Scale(span.mu, 8, 0.125f), absl::OkStatus(); });
  const absl::Status status = ReplayProbe(mu);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("probe: mu is off by 0.125"), HasSubstr("(relative norm), expected at most 1e-05: ")));
  FakeEngine logvar(Probed(true, true),
                    [](const RowSpan& span) { return Scale(span.logvar, 8, 0.25f), absl::OkStatus(); });
  EXPECT_THAT(std::string(ReplayProbe(logvar).message()), HasSubstr("probe: logvar is off by 0.25"));
  for (const bool encoder : {true, false}) {
    FakeEngine x_hat(Probed(encoder, true),
                     [](const RowSpan& span) { return Scale(span.x_hat, 28, 0.5f), absl::OkStatus(); });
    EXPECT_THAT(std::string(ReplayProbe(x_hat).message()), HasSubstr("probe: x_hat is off by 0.5"));
  }
}

TEST(ReplayProbe, TakesTheModelsTolerance) {
  for (const auto& [tolerance, ok] : {std::pair(0.012, true), std::pair(0.008, false)}) {
    Model model = Probed(true, true);
    model.probe->fp32_tolerance = tolerance;
    FakeEngine engine(std::move(model),
                      [](const RowSpan& span) { return Scale(span.x_hat, 28, 0.01f), absl::OkStatus(); });
    EXPECT_EQ(ReplayProbe(engine).ok(), ok) << tolerance;
  }
}

TEST(ReplayProbe, RefusesNonFiniteAnswers) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    FakeEngine engine(Probed(true, true),
                      [bad](const RowSpan& span) { return span.x_hat[27] = bad, absl::OkStatus(); });
    EXPECT_EQ(ReplayProbe(engine).code(), absl::StatusCode::kFailedPrecondition) << bad;
  }
}

TEST(ReplayProbe, OfZerosOnlyZerosAreRight) {
  Model model = Probed(false, false);
  for (auto* values : {&std::get<Linear>(model.decoder[0]).weight, &std::get<Linear>(model.decoder[0]).bias}) {
    std::fill(values->begin(), values->end(), 0.0f);
  }
  std::fill(model.probe->x_hat.begin(), model.probe->x_hat.end(), 0.0f);
  FakeEngine right(model);
  EXPECT_EQ(ReplayProbe(right), absl::OkStatus());
  FakeEngine wrong(model, [](const RowSpan& span) { return span.x_hat[0] = 1e-30f, absl::OkStatus(); });
  EXPECT_EQ(ReplayProbe(wrong).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ReplayProbe, PassesTheEnginesErrorsOn) {
  FakeEngine fault(Probed(true, true), [](const RowSpan&) { return absl::InternalError("device fault"); });
  EXPECT_EQ(ReplayProbe(fault), absl::InternalError("device fault"));
  FakeEngine full(Probed(true, true));
  full.no_memory = true;
  EXPECT_EQ(ReplayProbe(full), absl::ResourceExhaustedError("no memory"));
}

}  // namespace
}  // namespace cvae
