// The CPU engine gives the bits of the plain reference: for every shape, instruction set, thread count, batch,
// neighbour, position and split.

#include "kernels/cpu/engine.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/cpu/forward.h"
#include "tests/kernels/models.h"
#include "tests/reference/reference.h"

namespace cvae {
namespace {

std::unique_ptr<Engine> MakeEngine(const Model& model, int threads, int64_t target) {
  CpuEngineOptions options;
  options.threads = threads;
  options.targets = target;
  auto engine = NewCpuEngine(std::make_shared<const Model>(model), options);
  EXPECT_TRUE(engine.ok()) << engine.status();
  return *std::move(engine);
}

// ||got - expected|| / ||expected||, over as many as are expected.
double RelativeError(const std::vector<float>& got, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(got[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  return std::sqrt(difference / norm);
}

class CpuEngineTest : public testing::TestWithParam<Shape> {
 protected:
  const Model model_ = RandomModel(GetParam());
  std::mt19937 random_{42};

  // Spans of random sizes with what the reference makes of them.
  std::vector<OwnedSpan> ExpectedSpans(int count, uint32_t max_rows) {
    std::vector<OwnedSpan> spans(count);
    for (OwnedSpan& span : spans) {
      const OwnedSpan made = RandomSpan(model_, random_, 1 + random_() % max_rows);
      span = Fresh(made, model_);
      RunReference(model_, span.span);
    }
    return spans;
  }

  void ExpectBits(Engine& engine, const std::vector<OwnedSpan>& expected) {
    std::vector<OwnedSpan> got(expected.size());
    std::vector<RowSpan> batch;
    for (size_t i = 0; i < expected.size(); ++i) {
      got[i] = Fresh(expected[i], model_);
      batch.push_back(got[i].span);
    }
    auto session = engine.NewSession(4096);
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run(batch).ok());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(Difference(got[i], expected[i]), "")
          << "span " << i << " of " << expected.size() << ", " << expected[i].span.count << " rows, pass "
          << static_cast<int>(expected[i].span.pass) << ", " << engine.Describe().device;
    }
  }
};

TEST_P(CpuEngineTest, GivesTheReferencesBitsOnEveryInstructionSet) {
  const std::vector<cpu::Kernels> all = cpu::AllKernels();
  ASSERT_GE(all.size(), 2u);
  const std::vector<OwnedSpan> expected = ExpectedSpans(12, 20);
  for (const cpu::Kernels& kernels : all) {
    ExpectBits(*MakeEngine(model_, 1, kernels.target), expected);
  }
}

// The reference in float and in double have formulas of their own; this is what holds them together.
TEST_P(CpuEngineTest, IsNearTheReferenceInDouble) {
  OwnedSpan span = RandomSpan(model_, random_, 1);
  while (span.span.pass != Pass::kForward || span.span.samples > 1) span = RandomSpan(model_, random_, 40);
  span = Fresh(span, model_);
  const auto engine = MakeEngine(model_, 1, 0);
  auto session = engine->NewSession(40);
  ASSERT_TRUE((*session)->Run({&span.span, 1}).ok());
  std::vector<double> x_hat, recon, kl;
  for (uint32_t i = 0; i < span.span.count; ++i) {
    const ReferenceRow<double> row = ReferenceForward<double>(model_, span.span, i);
    x_hat.insert(x_hat.end(), row.x_hat.begin(), row.x_hat.end());
    recon.push_back(row.recon);
    kl.push_back(row.kl);
  }
  EXPECT_LT(RelativeError(span.x_hat, x_hat), 2e-6);
  EXPECT_LT(RelativeError(span.recon, recon), 2e-6);
  EXPECT_LT(RelativeError(span.kl, kl), 2e-6);
}

TEST_P(CpuEngineTest, DependsNeitherOnThreadsNorOnNeighboursNorOnPosition) {
  std::vector<OwnedSpan> expected = ExpectedSpans(10, 40);
  for (int threads = 1; threads <= 4; ++threads) {
    const auto engine = MakeEngine(model_, threads, 0);
    ExpectBits(*engine, expected);
    ExpectBits(*engine, {expected[threads]});
    std::shuffle(expected.begin(), expected.end(), random_);
  }
}

TEST_P(CpuEngineTest, DependsNotOnHowARequestIsSplit) {
  OwnedSpan whole = RandomSpan(model_, random_, 97);
  whole.span.pass = Pass::kForward;
  whole.x = RandomFloats(random_, size_t{97} * model_.input_width);
  whole.span.x = whole.x.data();
  whole.target = RandomFloats(random_, size_t{97} * model_.output_width);
  whole.span.target = whole.target.data();
  whole.span.noise = Noise::kSeed;
  whole.span.samples = 3;
  whole.span.first_sample = 0;
  whole = Fresh(whole, model_);
  RunReference(model_, whole.span);

  OwnedSpan split = Fresh(whole, model_);
  const auto engine = MakeEngine(model_, 2, 0);
  auto session = engine->NewSession(97);
  for (uint32_t begin = 0; begin < 97;) {
    const uint32_t count = std::min<uint32_t>(97 - begin, 1 + random_() % 11);
    const size_t input = begin / 3;
    RowSpan piece = split.span;
    piece.count = count;
    piece.first_sample = begin % 3;
    piece.first_row += input;
    piece.x += input * model_.input_width;
    if (piece.target != nullptr) piece.target += input * model_.output_width;
    for (Condition* condition : {&piece.encode_condition, &piece.decode_condition}) {
      if (condition->y != nullptr) condition->y += input * model_.condition_width;
      if (condition->ids != nullptr) condition->ids += input * model_.condition.size();
    }
    piece.mu += input * model_.latent_width;
    piece.logvar += input * model_.latent_width;
    piece.kl += input;
    piece.kl_elements += input * model_.latent_width;
    piece.z += size_t{begin} * model_.latent_width;
    piece.x_hat += size_t{begin} * model_.output_width;
    piece.recon += begin;
    piece.recon_elements += size_t{begin} * model_.output_width;
    ASSERT_TRUE((*session)->Run({&piece, 1}).ok());
    begin += count;
  }
  EXPECT_EQ(Difference(split, whole), "");
}

TEST_P(CpuEngineTest, AClassIdEqualsItsOneHot) {
  if (model_.condition_width == 0) GTEST_SKIP() << "no condition";
  for (const ConditionPart& part : model_.condition) {
    if (!part.classes) GTEST_SKIP() << "a part that is no class";
  }
  OwnedSpan ids = RandomSpan(model_, random_, 29);
  ids.decode_y.clear();
  ids.ids.clear();
  const size_t inputs = ids.span.input_rows();
  std::vector<float> one_hot(inputs * model_.condition_width, 0.0f);
  for (size_t row = 0; row < inputs; ++row) {
    int column = 0;
    for (const ConditionPart& part : model_.condition) {
      ids.ids.push_back(static_cast<int32_t>(random_() % part.width));
      one_hot[row * model_.condition_width + column + ids.ids.back()] = 1;
      column += part.width;
    }
  }
  OwnedSpan dense = ids;
  dense.y = one_hot;
  dense.span.encode_condition = {dense.y.data(), nullptr};
  ids.span.encode_condition = {nullptr, ids.ids.data()};
  for (const cpu::Kernels& kernels : cpu::AllKernels()) {
    const auto engine = MakeEngine(model_, 1, kernels.target);
    auto session = engine->NewSession(29);
    OwnedSpan a = Fresh(ids, model_), b = Fresh(dense, model_);
    ASSERT_TRUE((*session)->Run({&a.span, 1}).ok());
    ASSERT_TRUE((*session)->Run({&b.span, 1}).ok());
    EXPECT_EQ(Difference(a, b), "") << kernels.name;
  }
}

TEST_P(CpuEngineTest, ANaNStaysInItsRow) {
  OwnedSpan clean = RandomSpan(model_, random_, 31);
  clean.span.pass = Pass::kForward;
  clean.span.samples = 1;
  clean.span.first_sample = 0;
  clean.x = RandomFloats(random_, size_t{31} * model_.input_width, 0.2f);
  clean.span.x = clean.x.data();
  clean.target = RandomFloats(random_, size_t{31} * model_.output_width);
  clean.span.target = clean.target.data();
  clean.y = RandomFloats(random_, size_t{31} * model_.condition_width);
  if (model_.condition_width > 0) clean.span.encode_condition = clean.span.decode_condition = {clean.y.data(), nullptr};
  clean.ids.clear();
  clean.decode_y.clear();
  clean.span.noise = Noise::kSeed;
  OwnedSpan dirty = Fresh(clean, model_);
  for (const size_t row : {3, 17}) {
    dirty.x[row * model_.input_width] = row == 3 ? std::nanf("0x123") : std::numeric_limits<float>::infinity();
  }
  clean = Fresh(clean, model_);
  RunReference(model_, clean.span);
  const auto engine = MakeEngine(model_, 2, 0);
  auto session = engine->NewSession(31);
  ASSERT_TRUE((*session)->Run({&dirty.span, 1}).ok());
  for (size_t row = 0; row < 31; ++row) {
    for (int j = 0; j < model_.output_width; ++j) {
      const size_t at = row * model_.output_width + j;
      uint32_t bits;
      std::memcpy(&bits, &dirty.x_hat[at], sizeof(bits));
      if (row == 3) {
        EXPECT_EQ(bits, 0x7fc00000u) << "row " << row;
      } else if (row != 17) {
        EXPECT_EQ(std::memcmp(&dirty.x_hat[at], &clean.x_hat[at], sizeof(float)), 0)
            << "row " << row << " column " << j;
      }
    }
  }
}

TEST_P(CpuEngineTest, SessionsRunAtOnce) {
  const std::vector<OwnedSpan> expected = ExpectedSpans(6, 30);
  const auto engine = MakeEngine(model_, 3, 0);
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < 4; ++lane) {
    lanes.emplace_back([&] {
      for (int round = 0; round < 5; ++round) ExpectBits(*engine, expected);
    });
  }
  for (std::thread& lane : lanes) lane.join();
}

INSTANTIATE_TEST_SUITE_P(Shapes, CpuEngineTest, testing::ValuesIn(Shapes()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

// Wider than anything else, at a few rows: the tiles' loops at length.
TEST(CpuEngine, ALargeShapeGivesTheReferencesBits) {
  const Model model = RandomModel({"large", 1500, {{1000, true}}, {1100}, 512, {1100}});
  std::mt19937 random(7);
  OwnedSpan span = RandomSpan(model, random, 13);
  span = Fresh(span, model);
  RunReference(model, span.span);
  OwnedSpan got = Fresh(span, model);
  const auto engine = MakeEngine(model, 2, 0);
  auto session = engine->NewSession(13);
  ASSERT_TRUE((*session)->Run({&got.span, 1}).ok());
  EXPECT_EQ(Difference(got, span), "");
}

TEST(CpuEngine, SaysWhatItIs) {
  const auto engine = MakeEngine(RandomModel(Shapes()[0]), 3, 0);
  EXPECT_EQ(engine->Describe().engine, "cpu");
  EXPECT_EQ(engine->Describe().revision, "fp32.n1");
  EXPECT_THAT(engine->Describe().device, testing::HasSubstr("3 threads"));
  EXPECT_EQ(NewCpuEngine(std::make_shared<const Model>(RandomModel(Shapes()[0])), {-1, 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cvae
