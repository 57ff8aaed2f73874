// Which kernels run a model, told by its shape and the device's limits alone: no GPU is needed.

#include "kernels/cuda/plan.h"

#include <algorithm>
#include <optional>

#include "gmock/gmock.h"
#include "tests/kernels/models.h"

namespace cvae::cuda {
namespace {

constexpr DeviceLimits kHopper = {132, 227 << 10};
constexpr DeviceLimits kConsumer = {46, 99 << 10};

Plan PlanOf(const Model& model, const DeviceLimits& device) {
  std::optional<Network> encoder;
  if (model.encoder) encoder = EncoderNetwork(model);
  return MakePlan(encoder ? &*encoder : nullptr, DecoderNetwork(model), device);
}

TEST(PlanTest, TheReferenceIsOneLaunchInBothForms) {
  const Plan plan = PlanOf(RandomModel(Shapes()[0]), kHopper);
  EXPECT_EQ(plan.widths.a, 266);       // [x, y]; [mu, logvar]; the decoder's hidden layer
  EXPECT_EQ(plan.widths.b, 256);       // the encoder's hidden layer; [z, y]; x_hat
  EXPECT_EQ(plan.tile_widths.b, 128);  // without x_hat: two blocks fit an SM
  EXPECT_TRUE(plan.few_fits);
  EXPECT_TRUE(plan.tile_fits);
  EXPECT_EQ(FormOf(plan, ForcedForm::kAuto, 1), Form::kFew);
  EXPECT_EQ(FormOf(plan, ForcedForm::kAuto, plan.few_rows), Form::kFew);
  EXPECT_EQ(FormOf(plan, ForcedForm::kAuto, plan.few_rows + 1), Form::kTile);
}

TEST(PlanTest, WhatDoesNotFitABlockRunsLayered) {
  EXPECT_EQ(FormOf(PlanOf(RandomModel(Shapes()[0]), kConsumer), ForcedForm::kAuto, 65536), Form::kLayered);
  const Model mnist = RandomModel(Shapes()[1]);
  const Plan plan = PlanOf(mnist, kHopper);
  EXPECT_FALSE(plan.tile_fits);
  EXPECT_EQ(FormOf(plan, ForcedForm::kAuto, 1), Form::kFew);
  EXPECT_EQ(FormOf(plan, ForcedForm::kAuto, 65536), Form::kLayered);
  EXPECT_EQ(CheckForced(plan, ForcedForm::kTile).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(CheckForced(plan, ForcedForm::kLayered).ok());
}

TEST(PlanTest, WeightsThatTheCacheCannotShareRunLayeredFromTheFirstRow) {
  const Plan plan = PlanOf(RandomModel({"wide", 1024, {{10, true}}, {1024}, 64, {1024}}), kHopper);
  EXPECT_EQ(FormOf(plan, ForcedForm::kAuto, 1), Form::kLayered);
}

TEST(PlanTest, MoreStagesThanALaunchTakesRunLayered) {
  const std::vector<int> hidden(20, 8);
  const Plan plan = PlanOf(RandomModel({"very deep", 8, {}, hidden, 2, hidden}), kHopper);
  EXPECT_FALSE(plan.few_fits);
  EXPECT_FALSE(plan.tile_fits);
  EXPECT_EQ(FormOf(plan, ForcedForm::kAuto, 1), Form::kLayered);
}

TEST(PlanTest, ADecoderAloneReadsTheSecondBuffer) {
  Model model = RandomModel(Shapes()[0]);
  model.encoder.reset();
  const Plan plan = PlanOf(model, kHopper);
  EXPECT_EQ(plan.widths.b, 256);
  EXPECT_EQ(plan.widths.a, 128);
}

TEST(PlanTest, ForcedFormsAreTaken) {
  const Plan plan = PlanOf(RandomModel(Shapes()[0]), kHopper);
  EXPECT_EQ(FormOf(plan, ForcedForm::kFew, 65536), Form::kFew);
  EXPECT_EQ(FormOf(plan, ForcedForm::kTile, 1), Form::kTile);
  EXPECT_EQ(FormOf(plan, ForcedForm::kLayered, 1), Form::kLayered);
}

}  // namespace
}  // namespace cvae::cuda
