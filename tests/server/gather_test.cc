#include "server/gather.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/kernels/model/model_file.h"

namespace cvae {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

class GatherJob : public Job {
 public:
  GatherJob() {
    finish = [](absl::Status) {};
  }
  std::vector<float> x_hat = std::vector<float>(1000);

 private:
  void Allocate(RowSpan* outputs) override { outputs->x_hat = x_hat.data(); }
};

// Floats with the view of them that a request would give, from an odd address.
class Floats {
 public:
  Floats(const char* field, uint32_t cols, std::vector<float> values)
      : bytes_(1 + values.size() * sizeof(float), '\0') {
    std::memcpy(bytes_.data() + 1, values.data(), values.size() * sizeof(float));
    view_ = {field, bytes_.data() + 1, static_cast<uint32_t>(values.size() / cols), cols};
  }
  const MatrixView& view() const { return view_; }

 private:
  std::string bytes_;
  MatrixView view_;
};

// FullFile: D 5, a part of 3 classes and one of 2 columns, Z 2, bce.
class GatherTest : public testing::Test {
 protected:
  absl::StatusOr<RowSpan> Run(uint64_t begin, uint32_t count) { return Gather({&job_, begin, count}, model_, &arena_); }

  static std::vector<float> Sequence(size_t count) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) / 64;
    return values;
  }

  const Model model_ = *ParseModel(*Safetensors::Parse(FullFile().Bytes()));
  std::vector<std::byte> memory_ = std::vector<std::byte>(StagingBytes(model_, 16) + kStagingAlign);
  StagingArena arena_{{memory_.data(), memory_.size()}};
  GatherJob job_;
};

TEST_F(GatherTest, APieceWithinARowsSamples) {
  const std::vector<float> x = Sequence(4 * 5), eps = Sequence(12 * 2);
  const Floats x_bytes("x", 5, x), eps_bytes("eps", 2, eps), tilt("parts", 2, Sequence(4 * 2));
  job_.rows = 4;
  job_.samples = 3;
  job_.first_row = 100;
  job_.noise = Noise::kEps;
  job_.x = x_bytes.view();
  job_.eps = eps_bytes.view();
  job_.encode_condition = {{{0, 1, 2, 0}, {}, 0}, {{}, tilt.view(), 0}};
  const absl::StatusOr<RowSpan> span = Run(4, 4);  // row 1's samples 1, 2 and row 2's 0, 1
  ASSERT_TRUE(span.ok()) << span.status();
  EXPECT_EQ(span->first_sample, 1u);
  EXPECT_EQ(span->first_row, 101u);
  EXPECT_EQ(span->input_rows(), 2u);
  EXPECT_THAT(std::vector<float>(span->x, span->x + 10), ElementsAreArray(x.begin() + 5, x.begin() + 15));
  EXPECT_THAT(std::vector<float>(span->eps, span->eps + 8), ElementsAreArray(eps.begin() + 8, eps.begin() + 16));
  EXPECT_THAT(std::vector<int32_t>(span->encode_condition.ids, span->encode_condition.ids + 4),
              ElementsAre(1, -1, 2, -1));
  EXPECT_EQ(span->encode_condition.y[3], 2 / 64.0f);
  EXPECT_EQ(span->encode_condition.y[5 + 4], 5 / 64.0f);
  EXPECT_EQ(span->x_hat, job_.x_hat.data() + 4 * model_.output_width);
  EXPECT_EQ(span->decode_condition.ids, span->encode_condition.ids);
}

TEST_F(GatherTest, ABadValueIsNamedAndTakesNoRoom) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x = Sequence(4 * 5);
    x[2 * 5 + 3] = bad;
    const Floats bytes("x", 5, x);
    job_.rows = 4;
    job_.x = bytes.view();
    EXPECT_TRUE(Run(0, 2).ok());
    arena_.Clear();
    const absl::StatusOr<RowSpan> span = Run(1, 3);
    EXPECT_EQ(span.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(span.status().message()), HasSubstr("x: row 2, column 3"));
    EXPECT_EQ(arena_.used(), 0u);
    job_.check_finite = false;
    EXPECT_TRUE(Run(1, 3).ok());
    job_.check_finite = true;
  }
}

TEST_F(GatherTest, ABceTargetIsWithinTheUnitIntervalALittleMore) {
  job_.rows = 2;
  job_.check_unit = true;
  const auto status_of = [this](float value) {
    std::vector<float> x = Sequence(2 * 5);
    x[7] = value;
    const Floats bytes("x", 5, x);
    job_.x = bytes.view();
    arena_.Clear();
    return Run(0, 2).status();
  };
  for (const float good : {0.0f, 1.0f, -1e-4f, 1.0001f}) EXPECT_TRUE(status_of(good).ok()) << good;
  for (const float bad : {-0.001f, 1.001f, 255.0f}) {
    EXPECT_THAT(std::string(status_of(bad).message()), HasSubstr("x: row 1, column 2")) << bad;
  }
}

TEST_F(GatherTest, TheWorstBatchFitsIntoTheStagingMemory) {
  const size_t row = StagingBytes(model_, 1);
  EXPECT_EQ(StagingBytes(model_, 16), 16 * row);
  const Floats x("x", 5, Sequence(5)), eps("eps", 2, Sequence(2)), target("target", 5, Sequence(5)),
      y("y", 5, Sequence(5));
  job_.rows = 1;
  job_.noise = Noise::kEps;
  job_.x = x.view();
  job_.eps = eps.view();
  job_.target = target.view();
  job_.encode_condition = job_.decode_condition = {{{1}, {}, 0}, {{}, y.view(), 3}};
  ASSERT_TRUE(Run(0, 1).ok());
  EXPECT_LE(arena_.used(), row);
}

}  // namespace
}  // namespace cvae
