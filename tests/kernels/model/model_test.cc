// Models that load, and what the loader makes of them. What it refuses is in refusal_test.cc.

#include "kernels/model/model.h"

#include <unistd.h>

#include <fstream>

#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernels/model/model_file.h"

namespace cvae {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

absl::StatusOr<Model> Load(const ModelFile& file) {
  absl::StatusOr<Safetensors> parsed = Safetensors::Parse(file.Bytes());
  if (!parsed.ok()) return parsed.status();
  return ParseModel(*parsed);
}

std::string Golden(const std::string& name) { return std::string(CVAE_SOURCE_DIR "/tests/golden/") + name; }

// The dims as one value to compare.
std::vector<int> Dims(const Model& model) {
  return {model.input_width, model.condition_width, model.latent_width, model.output_width};
}

TEST(ModelTest, LoadsTheReferenceStateDict) {
  const absl::StatusOr<Model> model = LoadModel(Golden("seed.model.safetensors"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Dims(*model), ElementsAre(256, 10, 32, 256));
  EXPECT_EQ(model->name, "");
  ASSERT_THAT(model->condition, SizeIs(1));
  EXPECT_EQ(model->condition[0].name, "label");
  EXPECT_EQ(model->condition[0].width, 10);
  EXPECT_TRUE(model->condition[0].classes);
  EXPECT_THAT(model->condition[0].class_names, IsEmpty());
  ASSERT_THAT(model->encoder->layers, SizeIs(2));
  EXPECT_EQ(std::get<Linear>(model->encoder->layers[0]).out, 128);
  EXPECT_EQ(std::get<Activation>(model->encoder->layers[1]), Activation::kRelu);
  ASSERT_THAT(model->decoder, SizeIs(3));
  EXPECT_EQ(std::get<Linear>(model->decoder[2]).name, "dec.2");
  EXPECT_EQ(model->loss.element, LossElement::kSquaredError);
  EXPECT_EQ(model->noise, DefaultNoise::kSample);
  EXPECT_FALSE(model->probe.has_value());
}

TEST(ModelTest, ReadsTheHeadsClampVarianceAndTheClampOfZ) {
  ModelFile file = FullFile();
  file.description->erase("probe");
  std::erase_if(file.tensors, [](const auto& tensor) { return tensor.first.starts_with("cvae.probe."); });
  Json& heads = (*file.description)["heads"];
  heads["logvar_clamp"] = {-8, 30};
  heads["variance_eps"] = 1e-6;
  heads["kl_log"] = "logvar";
  (*file.description)["generate"]["z_clamp"] = {-0.5, 0.5};
  const absl::StatusOr<Model> model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->latent.logvar_min, -8);
  EXPECT_EQ(model->latent.logvar_max, 30);
  EXPECT_EQ(model->latent.variance_eps, 1e-6f);
  EXPECT_TRUE(model->latent.kl_of_logvar);
  EXPECT_EQ(model->latent.z_min, -0.5f);
  EXPECT_EQ(model->latent.z_max, 0.5f);
}

TEST(ModelTest, KeepsWeightsInTheFilesOrder) {
  const absl::StatusOr<Safetensors> file = Safetensors::Read(Golden("tiny.model.safetensors"));
  ASSERT_TRUE(file.ok()) << file.status();
  const absl::StatusOr<Model> model = ParseModel(*file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(std::get<Linear>(model->encoder->layers[0]).weight, ToFloats(*file->Find("enc.0.weight")));
  EXPECT_EQ(model->encoder->logvar.bias, ToFloats(*file->Find("enc_logvar.bias")));
  EXPECT_EQ(model->sha256, Sha256Hex(file->bytes()));
}

TEST(ModelTest, TheDescriptionOfABareFileSaysTheSame) {
  ModelFile file = ReferenceFile(3, 2, 1, 2);
  const absl::StatusOr<Model> bare = Load(file);
  ASSERT_TRUE(bare.ok()) << bare.status();
  file.description = Json::parse(bare->description);
  const absl::StatusOr<Model> described = Load(file);
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(Dims(*described), Dims(*bare));
  EXPECT_EQ(described->condition[0].name, "label");
  EXPECT_EQ(std::get<Linear>(described->decoder[0]).weight, std::get<Linear>(bare->decoder[0]).weight);
}

TEST(ModelTest, ABareFileMayHaveNoCondition) {
  const absl::StatusOr<Model> model = Load(ReferenceFile(3, 0, 4, 2));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Dims(*model), ElementsAre(3, 0, 2, 3));
  EXPECT_THAT(model->condition, IsEmpty());
}

TEST(ModelTest, MetadataOfOthersIsIgnored) {
  const ModelFile file = ReferenceFile();
  TensorMap tensors;
  for (const auto& [name, array] : file.tensors) tensors[name] = Tensor{array.dtype, array.shape, array.data};
  const absl::StatusOr<Safetensors> parsed = Safetensors::Parse(SerializeSafetensors(tensors, {{"format", "pt"}}));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(ParseModel(*parsed).ok());
}

TEST(ModelTest, LoadsAllThatADescriptionOffers) {
  const absl::StatusOr<Model> model = Load(FullFile());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name, "full");
  EXPECT_THAT(Dims(*model), ElementsAre(5, 5, 2, 5));
  ASSERT_THAT(model->condition, SizeIs(2));
  EXPECT_THAT(model->condition[0].class_names, ElementsAre("zero", "one", "two"));
  EXPECT_EQ(model->condition[1].name, "tilt");
  EXPECT_EQ(model->condition[1].width, 2);
  EXPECT_FALSE(model->condition[1].classes);
  ASSERT_THAT(model->encoder->layers, SizeIs(4)) << "linear, relu, linear, sigmoid: identity leaves nothing";
  EXPECT_EQ(std::get<Activation>(model->encoder->layers[3]), Activation::kSigmoid);
  ASSERT_THAT(model->decoder, SizeIs(4));
  EXPECT_EQ(std::get<Activation>(model->decoder[3]), Activation::kSigmoid);
  EXPECT_EQ(model->loss.element, LossElement::kBce);
  EXPECT_FALSE(model->loss.logits);
  EXPECT_EQ(model->loss.recon_weight, 2);
  EXPECT_EQ(model->loss.kl_weight, 0.5);
  EXPECT_EQ(model->loss.reduce, Reduce::kSum);
  EXPECT_EQ(model->noise, DefaultNoise::kMean);
  ASSERT_TRUE(model->probe.has_value());
  EXPECT_EQ(model->probe->rows, 2);
  EXPECT_EQ(model->probe->fp32_tolerance, 1e-4);
  EXPECT_EQ(model->probe->bf16_tolerance, 0.1);
  EXPECT_THAT(model->probe->x, SizeIs(10));
  EXPECT_THAT(model->probe->condition, SizeIs(10));
  EXPECT_THAT(model->probe->logvar, SizeIs(4));
  EXPECT_THAT(model->probe->x_hat, SizeIs(10));
}

TEST(ModelTest, LoadsEveryActivation) {
  const std::vector<std::pair<const char*, Activation>> activations = {
      {R"("relu")", Activation::kRelu},
      {R"({"leaky_relu": 0.2})", {Activation::kLeakyRelu, 0.2f}},
      {R"({"elu": 1})", {Activation::kElu, 1.0f}},
      {R"("silu")", Activation::kSilu},
      {R"("gelu")", Activation::kGelu},
      {R"("gelu_tanh")", Activation::kGeluTanh},
      {R"("tanh")", Activation::kTanh},
      {R"("sigmoid")", Activation::kSigmoid},
      {R"("softplus")", Activation::kSoftplus},
  };
  for (const auto& [json, activation] : activations) {
    ModelFile file = FullFile();
    (*file.description)["encoder"][1] = Json::parse(json);
    const absl::StatusOr<Model> model = Load(file);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_TRUE(std::get<Activation>(model->encoder->layers[1]) == activation) << json;
  }
}

TEST(ModelTest, EverythingOptionalHasItsDefault) {
  ModelFile file = FullFile();
  for (const char* key : {"name", "loss", "noise"}) file.description->erase(key);
  (*file.description)["probe"] = Json::object();
  const absl::StatusOr<Model> model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name, "");
  EXPECT_EQ(model->loss.element, LossElement::kSquaredError);
  EXPECT_EQ(model->loss.recon_weight, 1);
  EXPECT_EQ(model->loss.kl_weight, 1);
  EXPECT_EQ(model->loss.reduce, Reduce::kMean);
  EXPECT_EQ(model->noise, DefaultNoise::kSample);
  EXPECT_EQ(model->probe->fp32_tolerance, 1e-5);
  EXPECT_EQ(model->probe->bf16_tolerance, 3e-2);
}

TEST(ModelTest, BceOnALinearOutputTakesLogits) {
  ModelFile file = FullFile();
  (*file.description)["decoder"].erase(3);
  absl::StatusOr<Model> model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->loss.logits);
  (*file.description)["decoder"].push_back("identity");
  model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->loss.logits);
  EXPECT_THAT(model->decoder, SizeIs(3));
}

TEST(ModelTest, ADecoderAlone) {
  ModelFile file = DecoderFile();
  absl::StatusOr<Model> model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->encoder.has_value());
  EXPECT_THAT(Dims(*model), ElementsAre(5, 5, 2, 5));
  EXPECT_THAT(model->probe->x, IsEmpty());
  EXPECT_THAT(model->probe->eps, SizeIs(4));
  (*file.description)["input"] = {{"width", 9}};
  model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Dims(*model), ElementsAre(9, 5, 2, 5));
}

TEST(ModelTest, LayerListsMayBeEmpty) {
  ModelFile file;
  file.description = Json::parse(R"({"format": 1, "input": {"width": 4}, "condition": [], "encoder": [],
                                     "heads": {"mu": "m", "logvar": "v"}, "decoder": []})");
  file.AddLinear("m", 4, 4);
  file.AddLinear("v", 4, 4);
  const absl::StatusOr<Model> model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Dims(*model), ElementsAre(4, 0, 4, 4));
}

TEST(ModelTest, TheOutputMayDifferFromTheInput) {
  ModelFile file = FullFile();
  file.AddLinear("dec.2", 8, 7);
  file.Add("cvae.probe.x_hat", {2, 8});
  const absl::StatusOr<Model> model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Dims(*model), ElementsAre(5, 5, 2, 8));
}

TEST(ModelTest, WidensHalfPrecision) {
  ModelFile file = ReferenceFile();
  file.tensors["enc_mu.bias"] = {DType::kF16, {2}, std::string("\x00\x3c\x00\xc0", 4)};
  file.tensors["enc_logvar.bias"] = {DType::kBF16, {2}, std::string("\x80\x3f\x00\xc0", 4)};
  const absl::StatusOr<Model> model = Load(file);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->encoder->mu.bias, ElementsAre(1, -2));
  EXPECT_THAT(model->encoder->logvar.bias, ElementsAre(1, -2));
}

TEST(ModelTest, EveryErrorOfLoadModelBeginsWithThePath) {
  const absl::StatusOr<Model> missing = LoadModel("/nowhere/model.safetensors");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), testing::StartsWith("/nowhere/model.safetensors: "));

  const std::string path = testing::TempDir() + "/refused" + std::to_string(getpid()) + ".safetensors";
  ModelFile file = ReferenceFile();
  file.tensors.erase("enc_mu.bias");
  std::ofstream(path, std::ios::binary) << file.Bytes();
  const absl::StatusOr<Model> refused = LoadModel(path);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), testing::StartsWith(path + ": "));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("enc_mu.bias"));
}

}  // namespace
}  // namespace cvae
