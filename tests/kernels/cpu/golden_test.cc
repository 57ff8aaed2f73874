// The cases that PyTorch computed in float64: every output within 2e-6 relative norm in float, and the reference in
// double within what float64 can tell.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/safetensors.h"
#include "gmock/gmock.h"
#include "kernels/cpu/engine.h"
#include "kernels/losses.h"
#include "tests/reference/reference.h"

namespace cvae {
namespace {

std::vector<double> Doubles(const Tensor& tensor) {
  std::vector<double> values(tensor.size());
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

template <class T>
double RelativeError(const std::vector<T>& out, const std::vector<double>& expected) {
  EXPECT_EQ(out.size(), expected.size());
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(static_cast<double>(out[i]) - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  return std::sqrt(difference / norm);
}

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string base = std::string(CVAE_SOURCE_DIR) + "/tests/golden/" + GetParam();
    auto model = LoadModel(base + ".model.safetensors");
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = std::make_shared<const Model>(*std::move(model));
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

  std::vector<double> Expected(const char* name) { return Doubles(*golden_->Find(name)); }

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Safetensors> golden_;
  std::vector<float> x_, y_, eps_;
  RowSpan span_;
};

TEST_P(GoldenTest, EngineIsNearPyTorch) {
  const size_t rows = span_.count;
  std::vector<float> mu(rows * model_->latent_width), logvar(mu), z(mu), x_hat(rows * model_->output_width),
      mean(x_hat);
  std::vector<float> recon(rows), kl(rows);
  span_.mu = mu.data();
  span_.logvar = logvar.data();
  span_.z = z.data();
  span_.x_hat = x_hat.data();
  span_.recon = recon.data();
  span_.kl = kl.data();
  auto engine = NewCpuEngine(model_);
  ASSERT_TRUE(engine.ok());
  auto session = (*engine)->NewSession(static_cast<int>(rows));
  ASSERT_TRUE((*session)->Run({&span_, 1}).ok());
  RowSpan at_mean = span_;
  at_mean.mu = at_mean.logvar = at_mean.z = at_mean.recon = at_mean.kl = nullptr;
  at_mean.noise = Noise::kMean;
  at_mean.x_hat = mean.data();
  ASSERT_TRUE((*session)->Run({&at_mean, 1}).ok());

  constexpr double kTolerance = 2e-6;
  EXPECT_LE(RelativeError(mu, Expected("mu")), kTolerance);
  EXPECT_LE(RelativeError(logvar, Expected("logvar")), kTolerance);
  EXPECT_LE(RelativeError(z, Expected("z")), kTolerance);
  EXPECT_LE(RelativeError(x_hat, Expected("x_hat")), kTolerance);
  EXPECT_LE(RelativeError(mean, Expected("x_hat_mean")), kTolerance);
  EXPECT_LE(RelativeError(recon, Expected("recon")), kTolerance);
  EXPECT_LE(RelativeError(kl, Expected("kl")), kTolerance);
  const LossTerms terms = FoldRows(model_->loss, recon, kl);
  EXPECT_LE(RelativeError(std::vector<double>{terms.loss, terms.recon_loss, terms.kl_loss}, Expected("loss")),
            kTolerance);
}

TEST_P(GoldenTest, ReferenceInDoubleIsPyTorchs) {
  std::vector<double> mu, x_hat, recon, kl;
  for (uint32_t i = 0; i < span_.count; ++i) {
    const ReferenceRow<double> row = ReferenceForward<double>(*model_, span_, i);
    mu.insert(mu.end(), row.mu.begin(), row.mu.end());
    x_hat.insert(x_hat.end(), row.x_hat.begin(), row.x_hat.end());
    recon.push_back(row.recon);
    kl.push_back(row.kl);
  }
  constexpr double kTolerance = 1e-13;
  EXPECT_LE(RelativeError(mu, Expected("mu")), kTolerance);
  EXPECT_LE(RelativeError(x_hat, Expected("x_hat")), kTolerance);
  EXPECT_LE(RelativeError(recon, Expected("recon")), kTolerance);
  EXPECT_LE(RelativeError(kl, Expected("kl")), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTest, testing::Values("seed", "tiny"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cvae
