// The reference against what PyTorch computed in float64: in float near it, in double the same but for rounding.

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/safetensors.h"
#include "gtest/gtest.h"
#include "kernels/model/model.h"
#include "tests/reference/reference.h"

namespace cvae {
namespace {

class ReferenceGoldenTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string base = std::string(CVAE_SOURCE_DIR) + "/tests/golden/" + GetParam();
    auto model = LoadModel(base + ".model.safetensors");
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    auto golden = Safetensors::Read(base + ".case.safetensors");
    ASSERT_TRUE(golden.ok()) << golden.status();
    golden_ = std::make_unique<Safetensors>(*std::move(golden));
    x_ = ToFloats(*golden_->Find("x"));
    y_ = ToFloats(*golden_->Find("y"));
    eps_ = ToFloats(*golden_->Find("eps"));
    span_.count = static_cast<uint32_t>(golden_->Find("x")->shape[0]);
    span_.noise = Noise::kEps;
    span_.x = x_.data();
    span_.eps = eps_.data();
    span_.encode_condition.y = span_.decode_condition.y = y_.data();
  }

  // Every output of PyTorch's, in T, by its name.
  template <class T>
  std::map<std::string, std::vector<double>> Outputs() const {
    std::map<std::string, std::vector<double>> outputs;
    RowSpan mean = span_;
    mean.noise = Noise::kMean;
    for (uint32_t i = 0; i < span_.count; ++i) {
      const auto append = [&outputs](const char* name, const std::vector<T>& values) {
        outputs[name].insert(outputs[name].end(), values.begin(), values.end());
      };
      const ReferenceRow<T> row = ReferenceForward<T>(model_, span_, i);
      append("mu", row.mu);
      append("logvar", row.logvar);
      append("z", row.z);
      append("x_hat", row.x_hat);
      append("recon", {row.recon});
      append("kl", {row.kl});
      append("x_hat_mean", ReferenceForward<T>(model_, mean, i).x_hat);
    }
    return outputs;
  }

  // Every output within `tolerance` of PyTorch's, in relative norm.
  void ExpectNear(const std::map<std::string, std::vector<double>>& outputs, double tolerance) const {
    for (const auto& [name, out] : outputs) {
      const Tensor& tensor = *golden_->Find(name);
      std::vector<double> expected(tensor.size());
      std::memcpy(expected.data(), tensor.data.data(), tensor.data.size());
      ASSERT_EQ(out.size(), expected.size()) << name;
      double difference = 0, norm = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        difference += std::pow(out[i] - expected[i], 2);
        norm += std::pow(expected[i], 2);
      }
      EXPECT_LE(std::sqrt(difference / norm), tolerance) << name;
    }
  }

  Model model_;
  std::unique_ptr<Safetensors> golden_;
  std::vector<float> x_, y_, eps_;
  RowSpan span_;
};

TEST_P(ReferenceGoldenTest, InFloatIsNearPyTorchs) { ExpectNear(Outputs<float>(), 2e-6); }

TEST_P(ReferenceGoldenTest, InDoubleIsPyTorchs) { ExpectNear(Outputs<double>(), 1e-13); }

TEST_P(ReferenceGoldenTest, AnIdEqualsItsOneHot) {
  std::vector<int32_t> ids;
  for (uint32_t row = 0; row < span_.count; ++row) {
    int32_t id = 0;
    while (y_[row * model_.condition_width + id] != 1) ++id;
    ids.push_back(id);
  }
  RowSpan by_id = span_;
  by_id.encode_condition = by_id.decode_condition = {nullptr, ids.data()};
  for (uint32_t row = 0; row < span_.count; ++row) {
    EXPECT_EQ(ReferenceForward<float>(model_, by_id, row).x_hat, ReferenceForward<float>(model_, span_, row).x_hat);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ReferenceGoldenTest, testing::Values("seed", "tiny"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace cvae
