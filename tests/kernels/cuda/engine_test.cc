// The CUDA engine gives the CPU engine's bits: for every shape, form of the kernels, batch size, neighbour and lane.
// Needs a GPU; without one its tests are skipped.

#include "kernels/cuda/engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/safetensors.h"
#include "gmock/gmock.h"
#include "kernels/cpu/engine.h"
#include "tests/kernels/models.h"

namespace cvae {
namespace {

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto engine = NewCudaEngine(std::make_shared<const Model>(RandomModel(Shapes()[0])));
    if (engine.status().code() == absl::StatusCode::kFailedPrecondition) GTEST_SKIP() << engine.status().message();
    ASSERT_TRUE(engine.ok()) << engine.status();
  }
};

// Both engines of a model; the GPU's with its kernels forced, null where they do not fit.
struct Engines {
  Engines(const Model& from, const std::string& form) : model(std::make_shared<const Model>(from)) {
    cpu = *NewCpuEngine(model);
    CudaEngineOptions options;
    options.form = form;
    auto made = NewCudaEngine(model, options);
    EXPECT_TRUE(made.ok() || absl::IsInvalidArgument(made.status())) << made.status();
    if (made.ok()) cuda = *std::move(made);
  }

  std::shared_ptr<const Model> model;
  std::unique_ptr<Engine> cpu;
  std::unique_ptr<Engine> cuda;
};

void RunSpans(Engine& engine, std::vector<OwnedSpan>& spans, int max_rows) {
  auto session = engine.NewSession(max_rows);
  ASSERT_TRUE(session.ok()) << session.status();
  std::vector<RowSpan> batch;
  for (const OwnedSpan& span : spans) batch.push_back(span.span);
  const absl::Status status = (*session)->Run(StageSpans(engine.model(), batch, **session));
  ASSERT_TRUE(status.ok()) << status;
}

std::vector<OwnedSpan> FreshSpans(const std::vector<OwnedSpan>& from, const Model& model) {
  std::vector<OwnedSpan> spans;
  for (const OwnedSpan& span : from) spans.push_back(Fresh(span, model));
  // Moved vectors keep their memory, so the spans' pointers hold.
  return spans;
}

std::vector<OwnedSpan> RandomSpans(const Model& model, std::mt19937& random, int count, uint32_t max_rows) {
  std::vector<OwnedSpan> spans;
  for (int i = 0; i < count; ++i) {
    const OwnedSpan made = RandomSpan(model, random, 1 + random() % max_rows);
    spans.push_back(Fresh(made, model));
  }
  return spans;
}

int RowsOf(const std::vector<OwnedSpan>& spans) {
  return std::accumulate(spans.begin(), spans.end(), 0, [](int n, const OwnedSpan& s) { return n + s.span.count; });
}

void ExpectSame(const std::vector<OwnedSpan>& got, const std::vector<OwnedSpan>& expected, const std::string& what) {
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(Difference(got[i], expected[i]), "")
        << what << ": span " << i << " of " << got.size() << ", " << expected[i].span.count << " rows, pass "
        << static_cast<int>(expected[i].span.pass) << ", noise " << static_cast<int>(expected[i].span.noise);
  }
}

const std::vector<std::string>& Forms() {
  static const auto& forms = *new std::vector<std::string>{"auto", "few", "tile", "layered"};
  return forms;
}

std::vector<Shape> AllShapes() {
  std::vector<Shape> shapes = Shapes();
  const std::vector<int> hidden(20, 8);
  shapes.push_back({"very deep", 8, {{3, true}}, hidden, 2, hidden});
  shapes.push_back({"panels and a column", 129, {{1, true}, {33, true}}, {257, 127}, 65, {300, 128}});
  return shapes;
}

TEST_F(CudaTest, EveryShapeAndFormGivesTheCpusBits) {
  for (const Shape& shape : AllShapes()) {
    const Model model = RandomModel(shape);
    std::mt19937 random(5);
    for (const std::string& form : Forms()) {
      const Engines engines(model, form);
      if (engines.cuda == nullptr) continue;
      for (const uint32_t max_rows : {3u, 40u, 400u}) {
        std::vector<OwnedSpan> expected = RandomSpans(model, random, 12, max_rows);
        std::vector<OwnedSpan> got = FreshSpans(expected, model);
        RunSpans(*engines.cpu, expected, RowsOf(expected));
        RunSpans(*engines.cuda, got, RowsOf(got));
        ExpectSame(got, expected, std::string(shape.name) + ", " + form);
      }
    }
  }
}

TEST_F(CudaTest, ADecoderAloneGivesTheCpusBits) {
  Model model = RandomModel(Shapes()[0]);
  model.encoder.reset();
  std::mt19937 random(6);
  std::vector<OwnedSpan> expected(4);
  for (OwnedSpan& span : expected) {
    do {
      span = RandomSpan(model, random, 30);
    } while (span.span.pass != Pass::kDecode);
    span = Fresh(span, model);
  }
  for (const std::string& form : Forms()) {
    const Engines engines(model, form);
    std::vector<OwnedSpan> got = FreshSpans(expected, model);
    RunSpans(*engines.cpu, expected, 200);
    RunSpans(*engines.cuda, got, 200);
    ExpectSame(got, expected, form);
  }
}

TEST_F(CudaTest, ALargeShapeGivesTheCpusBits) {
  const Model model = RandomModel({"large", 4096, {{1000, true}}, {4096}, 512, {4096}});
  std::mt19937 random(7);
  const Engines engines(model, "auto");
  std::vector<OwnedSpan> expected = RandomSpans(model, random, 3, 60);
  std::vector<OwnedSpan> got = FreshSpans(expected, model);
  RunSpans(*engines.cpu, expected, 200);
  RunSpans(*engines.cuda, got, 200);
  ExpectSame(got, expected, "large");
}

// A forward span over the first `rows` rows of another's inputs.
OwnedSpan FirstRows(const OwnedSpan& from, uint32_t rows, const Model& model) {
  OwnedSpan span;
  span.span = from.span;
  span.span.count = rows;
  span.WantAll(model);
  return span;
}

OwnedSpan ForwardSpan(const Model& model, std::mt19937& random, uint32_t rows) {
  OwnedSpan span;
  span.span.count = rows;
  span.span.noise = Noise::kSeed;
  span.span.seed = 11;
  span.x = RandomFloats(random, size_t{rows} * model.input_width);
  span.span.x = span.x.data();
  for (uint32_t i = 0; i < rows; ++i) span.ids.push_back(static_cast<int32_t>(random() % model.condition_width));
  span.span.encode_condition.ids = span.span.decode_condition.ids = span.ids.data();
  span.WantAll(model);
  return span;
}

TEST_F(CudaTest, EveryBatchSizeGivesARowTheSameBits) {
  constexpr uint32_t kMost = 4097;
  const Model model = RandomModel(Shapes()[0]);
  std::mt19937 random(8);
  const Engines engines(model, "auto");
  std::vector<OwnedSpan> all(1);
  all[0] = ForwardSpan(model, random, kMost);
  RunSpans(*engines.cpu, all, kMost);
  for (const std::string& form : Forms()) {
    const Engines forced(model, form);
    auto session = *forced.cuda->NewSession(kMost);
    for (uint32_t rows = 1; rows <= kMost; rows += form == "auto" ? 1 : 61) {
      OwnedSpan got = FirstRows(all[0], rows, model);
      ASSERT_TRUE(session->Run(StageSpans(model, {got.span}, *session)).ok());
      const auto outputs = got.Outputs(), expected = all[0].Outputs();
      for (size_t i = 0; i < outputs.size(); ++i) {
        const size_t count = outputs[i]->size() - 1;
        ASSERT_EQ(std::memcmp(outputs[i]->data(), expected[i]->data(), count * sizeof(float)), 0)
            << form << ", " << rows << " rows, output " << i;
        ASSERT_EQ(outputs[i]->back(), -12345.0f) << "written behind its end";
      }
    }
  }
}

TEST_F(CudaTest, NoStaleRowAndNoNeighbour) {
  const Model model = RandomModel(Shapes()[0]);
  std::mt19937 random(9);
  const Engines engines(model, "auto");
  auto session = *engines.cuda->NewSession(64);
  for (const uint32_t rows : {10u, 2u, 10u, 1u, 64u, 3u}) {
    std::vector<OwnedSpan> expected(1);
    expected[0] = ForwardSpan(model, random, rows);
    OwnedSpan got = FirstRows(expected[0], rows, model);
    RunSpans(*engines.cpu, expected, 64);
    ASSERT_TRUE(session->Run(StageSpans(model, {got.span}, *session)).ok());
    ExpectSame({got}, expected, std::to_string(rows) + " rows");
  }
}

TEST_F(CudaTest, NaNAndInfinityStayInTheirRows) {
  for (const Shape& shape : Shapes()) {
    const Model model = RandomModel(shape);
    std::mt19937 random(10);
    std::vector<OwnedSpan> expected = RandomSpans(model, random, 8, 40);
    for (OwnedSpan& span : expected) {
      for (std::vector<float>* input : {&span.x, &span.eps, &span.y}) {
        if (input->empty()) continue;
        (*input)[random() % input->size()] = std::nanf("0x123");
        (*input)[random() % input->size()] = std::numeric_limits<float>::infinity();
        (*input)[random() % input->size()] = 3e38f;
      }
    }
    for (const std::string& form : Forms()) {
      const Engines engines(model, form);
      if (engines.cuda == nullptr) continue;
      std::vector<OwnedSpan> got = FreshSpans(expected, model);
      RunSpans(*engines.cpu, expected, 400);
      RunSpans(*engines.cuda, got, 400);
      ExpectSame(got, expected, std::string(shape.name) + ", " + form);
    }
  }
}

TEST_F(CudaTest, LanesHammeredTogether) {
  const Model model = RandomModel(Shapes()[0]);
  std::mt19937 random(12);
  const Engines engines(model, "auto");
  std::vector<OwnedSpan> expected = RandomSpans(model, random, 20, 300);
  RunSpans(*engines.cpu, expected, RowsOf(expected));
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < 8; ++lane) {
    lanes.emplace_back([&, lane] {
      std::mt19937 order(lane);
      std::vector<OwnedSpan> mine = expected;
      for (int round = 0; round < 20; ++round) {
        std::shuffle(mine.begin(), mine.end(), order);
        std::vector<OwnedSpan> got = FreshSpans(mine, model);
        RunSpans(*engines.cuda, got, RowsOf(got));
        ExpectSame(got, mine, "lane " + std::to_string(lane));
      }
    });
  }
  for (std::thread& lane : lanes) lane.join();
}

TEST_F(CudaTest, RefusesWhatDoesNotFit) {
  const Engines engines(RandomModel(Shapes()[0]), "auto");
  const auto session = engines.cuda->NewSession(1 << 30);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(session.status().message()), testing::HasSubstr("needs"));
  CudaEngineOptions options;
  options.gpus = "97";
  EXPECT_EQ(NewCudaEngine(engines.model, options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CudaEngine, WithoutAGpuSaysWhatToDo) {
  const auto engine = NewCudaEngine(std::make_shared<const Model>(RandomModel(Shapes()[0])));
  if (engine.ok()) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(engine.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(engine.status().message()), testing::HasSubstr("--engine=cpu"));
}

}  // namespace
}  // namespace cvae
