// StagingBytes holds whatever spans a batch is made of.

#include <random>
#include <string>

#include "gtest/gtest.h"
#include "kernels/engine.h"

namespace cvae {
namespace {

Model Widths(int input, int output, int latent, int condition, int parts) {
  Model model;
  model.input_width = input;
  model.output_width = output;
  model.latent_width = latent;
  model.condition_width = condition;
  model.condition.resize(parts);
  return model;
}

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// What a span with every input that there is takes.
size_t SpanBytes(const Model& model, const RowSpan& span) {
  const size_t inputs = span.input_rows();
  const size_t condition = Aligned(inputs * model.condition_width * 4) + Aligned(inputs * model.condition.size() * 4);
  return Aligned(inputs * model.input_width * 4) + Aligned(inputs * model.output_width * 4) +
         Aligned(size_t{span.count} * model.latent_width * 4) + 2 * condition;
}

TEST(StagingBytes, IsARowOfEachArrayAligned) {
  // x 1024, target 1024, eps 128, and twice y 64 and ids 64.
  EXPECT_EQ(StagingBytes(Widths(256, 256, 32, 10, 1), 1), 2432u);
  EXPECT_EQ(StagingBytes(Widths(256, 256, 32, 10, 1), 512), 512 * 2432u);
  // x 64, target 128, eps 64, y 128, ids 128.
  EXPECT_EQ(StagingBytes(Widths(16, 17, 1, 17, 17), 3), 3 * 768u);
  EXPECT_EQ(StagingBytes(Widths(16, 16, 16, 0, 0), 1), 192u);
}

TEST(StagingBytes, HoldsAnySpans) {
  std::mt19937 random(1);
  const auto pick = [&random](int n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    const int parts = pick(4);
    const Model model = Widths(1 + pick(70), 1 + pick(70), 1 + pick(40), parts == 0 ? 0 : parts + pick(40), parts);
    const int max_rows = 1 + pick(60);
    size_t used = 0;
    for (int left = max_rows; left > 0;) {
      RowSpan span;
      span.count = 1 + pick(left);
      span.samples = 1 + pick(5);
      span.first_sample = pick(span.samples);
      used += SpanBytes(model, span);
      left -= span.count;
    }
    EXPECT_LE(used, StagingBytes(model, max_rows)) << "round " << round;
  }
}

TEST(StagingBytes, DoesNotOverflowAnInt) {
  EXPECT_EQ(StagingBytes(Widths(1 << 20, 1 << 20, 1 << 20, 0, 0), 1 << 16), size_t{3} << 38);
}

}  // namespace
}  // namespace cvae
