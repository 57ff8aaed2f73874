// What the loader refuses: each case is a good file with one thing wrong, and the words that the message has.

#include <cmath>
#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/model/model.h"
#include "tests/kernels/model/model_file.h"

namespace cvae {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

// Checks that `file` is refused as INVALID_ARGUMENT by a short, printable message with all of `words`.
void ExpectRefused(const ModelFile& file, const Words& words) {
  const absl::StatusOr<Safetensors> parsed = Safetensors::Parse(file.Bytes());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const absl::Status status = ParseModel(*parsed).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  for (const std::string& word : words) EXPECT_THAT(message, HasSubstr(word));
  EXPECT_LT(message.size(), 1000u);
  for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << message;
}

// A change of the description: a JSON value put at a path (RFC 6901), or taken away where `value` is empty.
struct Edit {
  const char* path;
  const char* value;
  Words words;
};

void ExpectRefused(const ModelFile& good, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    SCOPED_TRACE(testing::Message() << edit.path << " = " << edit.value);
    const bool there = good.description->contains(Json::json_pointer(edit.path));
    Json operation = {{"op", *edit.value == '\0' ? "remove" : there ? "replace" : "add"}, {"path", edit.path}};
    if (*edit.value != '\0') operation["value"] = Json::parse(edit.value);
    ModelFile file = good;
    file.description = good.description->patch(Json::array({operation}));
    ExpectRefused(file, edit.words);
  }
}

struct Change {
  std::function<void(ModelFile&)> apply;
  Words words;
};

void ExpectRefused(const ModelFile& good, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    SCOPED_TRACE(testing::PrintToString(change.words));
    ModelFile file = good;
    change.apply(file);
    ExpectRefused(file, change.words);
  }
}

TEST(RefusalTest, Format) {
  ExpectRefused(FullFile(), std::vector<Edit>{
                                {"/format", "", {"description", "\"format\""}},
                                {"/format", "2", {"format", "got 2", "newer version", "format 1"}},
                                {"/format", "18446744073709551615", {"newer version"}},
                                {"/format", "0", {"format", "got 0"}},
                                {"/format", "-1", {"format", "got -1"}},
                                {"/format", "1.0", {"format", "got 1.0", "integer"}},
                                {"/format", "\"1\"", {"format", "\"1\"", "integer"}},
                                {"", "[]", {"description", "a list", "an object"}},
                                {"", "\"x\"", {"description", "\"x\"", "an object"}},
                            });
  ModelFile newer = FullFile();
  newer.description = Json::parse(R"({"format": 2, "something": "new"})");
  ExpectRefused(newer, {"newer version"});  // and no complaint about its keys
}

TEST(RefusalTest, TopLevel) {
  ExpectRefused(FullFile(),
                std::vector<Edit>{
                    {"/inptu", "1", {"description", "unknown key \"inptu\"", "input"}},
                    {"/input", "", {"description", "\"input\""}},
                    {"/condition", "", {"description", "\"condition\""}},
                    {"/decoder", "", {"description", "\"decoder\""}},
                    {"/encoder", "", {"encoder and heads together"}},
                    {"/heads", "", {"encoder and heads together"}},
                    {"/name", "7", {"name", "got 7", "string"}},
                    {"/name", "\"\"", {"name", "1 to 256 bytes"}},
                    {"/name", "\"a\\nb\"", {"name", "control characters"}},
                    {"/noise", "\"none\"", {"noise", "\"none\"", "\"sample\" or \"mean\""}},
                    {"/noise", "null", {"noise", "null"}},
                    {"/output", "{\"scale\": \"s\"}", {"output", "scale is not served by this version"}},
                    {"/output", "{\"shift\": \"s\"}", {"output", "shift is not served by this version"}},
                    {"/output", "{\"width\": 1}", {"output", "unknown key"}},
                    {"/generate", "{\"z_clamp\": 1}", {"generate.z_clamp", "got 1", "a range [low, high]"}},
                    {"/generate", "{\"z_clamp\": [0, 1, 2]}", {"generate.z_clamp", "a range [low, high]"}},
                    {"/generate", "{\"z_clamp\": [1, -1]}", {"generate.z_clamp", "[1, -1]", "lower end first"}},
                    {"/generate", "{\"z_clamp\": [0, 1e40]}", {"generate.z_clamp[1]", "a number that float32 holds"}},
                    {"/generate", "{\"clamp\": [0, 1]}", {"generate", "unknown key \"clamp\""}},
                    {"/generate", "3", {"generate", "got 3", "an object"}},
                });
}

TEST(RefusalTest, Input) {
  ExpectRefused(FullFile(), std::vector<Edit>{
                                {"/input", "5", {"input", "got 5", "an object"}},
                                {"/input/width", "", {"input", "\"width\""}},
                                {"/input/width", "0", {"input.width", "got 0", "1 to 65536"}},
                                {"/input/width", "-3", {"input.width", "got -3"}},
                                {"/input/width", "65537", {"input.width", "1 to 65536"}},
                                {"/input/width", "1e3", {"input.width", "integer"}},
                                {"/input/width", "true", {"input.width", "got true"}},
                                {"/input/width", "6", {"encoder[0]", "enc.0.weight", "F32 [6, 10]", "[6, 11]"}},
                                {"/input/scale", "\"s\"", {"input", "scale is not served by this version"}},
                                {"/input/shift", "\"s\"", {"input", "shift is not served by this version"}},
                                {"/input/loss_space", "\"raw\"", {"input", "loss_space is not served"}},
                                {"/input/wdith", "1", {"input", "unknown key \"wdith\""}},
                            });
}

TEST(RefusalTest, Condition) {
  ExpectRefused(
      FullFile(),
      std::vector<Edit>{
          {"/condition", "{}", {"condition", "an object", "a list"}},
          {"/condition/0", "\"digit\"", {"condition[0]", "an object"}},
          {"/condition/0/name", "", {"condition[0]", "\"name\""}},
          {"/condition/0/name", "\"\"", {"condition[0].name", "1 to 256 bytes"}},
          {"/condition/0/name", "[]", {"condition[0].name", "a list", "string"}},
          {"/condition/1/name", "\"digit\"", {"condition[1].name", "\"digit\"", "another part"}},
          {"/condition/0/width", "3", {"condition[0]", "one of classes and width"}},
          {"/condition/1/width", "", {"condition[1]", "one of classes and width"}},
          {"/condition/1/width", "0", {"condition[1].width", "1 to 65536"}},
          {"/condition/0/classes", "0", {"condition[0].classes", "1 to 65536"}},
          {"/condition/0/classes", "\"3\"", {"condition[0].classes", "integer"}},
          {"/condition/0/classes", "4", {"condition[0].class_names", "3 names", "expected 4"}},
          {"/condition/0/class_names", "\"a\"", {"condition[0].class_names", "a list"}},
          {"/condition/0/class_names/1", "\"zero\"", {"condition[0].class_names[1]", "another class"}},
          {"/condition/0/class_names/0", "", {"condition[0].class_names", "2 names", "expected 3"}},
          {"/condition/0/class_names", R"(["a", "b", "a"])", {"condition[0].class_names[2]", "\"a\"", "another class"}},
          {"/condition/0/class_names", R"(["a", "", "c"])", {"condition[0].class_names[1]", "1 to 256 bytes"}},
          {"/condition/0/class_names", R"(["a", 1, "c"])", {"condition[0].class_names[1]", "got 1", "string"}},
          {"/condition/1/class_names", R"(["a", "b"])", {"condition[1].class_names", "beside classes"}},
          {"/condition/1/sizes", "1", {"condition[1]", "unknown key \"sizes\""}},
          {"/condition/2", R"({"name": "x", "width": 65536})", {"condition[2]", "wider than 65536"}},
          {"/condition/2", R"({"name": "x", "width": 1})", {"encoder[0]", "enc.0.weight", "[6, 11]"}},
      });
}

TEST(RefusalTest, Layers) {
  ExpectRefused(FullFile(),
                std::vector<Edit>{
                    {"/encoder", "\"relu\"", {"encoder", "\"relu\"", "a list"}},
                    {"/encoder/1", "\"mish\"", {"encoder[1]", "\"mish\"", "linear, identity, relu, leaky_relu"}},
                    {"/encoder/1", "\"leaky_relu\"", {"encoder[1]", "leaky_relu takes its parameter"}},
                    {"/encoder/1", R"({"elu": "1"})", {"encoder[1].elu", "\"1\"", "a number that float32 holds"}},
                    {"/encoder/1", R"({"elu": 1e39})", {"encoder[1].elu", "a number that float32 holds"}},
                    {"/encoder/1", R"({"elu": 1, "alpha": 1})", {"encoder[1]", "unknown key \"alpha\""}},
                    {"/encoder/1", R"({"gelu": "tanh"})", {"encoder[1]", "no parameters"}},
                    {"/encoder/1", R"({"layer_norm": "n", "eps": 1})", {"encoder[1]", "this version serves"}},
                    {"/decoder/1", R"({"residual": [{"linear": "r"}]})", {"decoder[1]", "\"residual\""}},
                    {"/encoder/1", "{}", {"encoder[1]", "an empty object"}},
                    {"/encoder/1", "7", {"encoder[1]", "got 7"}},
                    {"/encoder/1", R"({"relu": 1})", {"encoder[1]", "no parameters"}},
                    {"/encoder/0", "\"linear\"", {"encoder[0]", "linear", "enc.0.bias"}},
                    {"/encoder/0/linear", "7", {"encoder[0].linear", "got 7", "string"}},
                    {"/encoder/0/linear", "\"\"", {"encoder[0].linear", "1 to 256 bytes"}},
                    {"/encoder/0/eps", "1", {"encoder[0]", "unknown key \"eps\""}},
                    {"/encoder/0/linear", "\"enc.7\"", {"encoder[0]", "\"enc.7.weight\"", "missing"}},
                    {"/encoder/2/linear", "\"enc.0\"", {"encoder[2]", "enc.0.weight", "F32 [6, 10]", "[6, 6]"}},
                    {"/decoder/2", "", {"probe", "cvae.probe.x_hat", "[2, 5]", "[2, 7]"}},
                    {"/decoder/0/linear", "\"enc.2\"", {"decoder[0]", "enc.2.weight", "F32 [4, 6]", "[4, 7]"}},
                    {"/encoder/1", R"("\u001b[31m\u0000")", {"encoder[1]", "\\033[31m\\000"}},
                });
  ModelFile many = FullFile();
  for (int i = 0; i < 1100; ++i) (*many.description)["decoder"].push_back("relu");
  ExpectRefused(many, {"decoder", "1104 operations", "at most 1024"});
}

TEST(RefusalTest, Heads) {
  ExpectRefused(FullFile(), std::vector<Edit>{
                                {"/heads", "[]", {"heads", "an object"}},
                                {"/heads/mu", "", {"heads", "\"mu\""}},
                                {"/heads/logvar", "", {"heads", "\"logvar\""}},
                                {"/heads/mu", "1", {"heads.mu", "got 1"}},
                                {"/heads/logvar", "\"enc_mu\"", {"heads.logvar", "enc_mu.weight", "used by heads.mu"}},
                                {"/heads/mu", "\"dec.0\"", {"heads.mu", "dec.0.weight", "F32 [7, 7]", "[7, 4]"}},
                                {"/heads/logvar_clamp", "[30, -8]", {"heads.logvar_clamp", "lower end first"}},
                                {"/heads/logvar_clamp", "[\"a\", 1]", {"heads.logvar_clamp[0]", "got \"a\""}},
                                {"/heads/variance_eps", "-1e-6", {"heads.variance_eps", "got -1e-06", "not negative"}},
                                {"/heads/variance_eps", "\"1\"", {"heads.variance_eps", "a number"}},
                                {"/heads/kl_log", "\"log\"", {"heads.kl_log", "\"var\" or \"logvar\""}},
                                {"/heads/log_std", "\"x\"", {"heads", "unknown key \"log_std\""}},
                            });
  ExpectRefused(FullFile(), std::vector<Change>{{[](ModelFile& f) { f.AddLinear("enc_logvar", 3, 4); },
                                                 {"heads.logvar", "3 rows", "expected 2"}}});
}

TEST(RefusalTest, Loss) {
  ExpectRefused(FullFile(),
                std::vector<Edit>{
                    {"/loss", "\"bce\"", {"loss", "an object"}},
                    {"/loss/element", "\"mse\"", {"loss.element", "\"mse\"", "\"squared_error\" or \"bce\""}},
                    {"/loss/recon_weight", "\"1\"", {"loss.recon_weight", "a number"}},
                    {"/loss/kl_weight", "null", {"loss.kl_weight", "null", "a number"}},
                    {"/loss/reduce", "\"avg\"", {"loss.reduce", "\"avg\"", "\"mean\" or \"sum\""}},
                    {"/loss/beta", "1", {"loss", "unknown key \"beta\"", "kl_weight"}},
                    {"/decoder/3", "\"relu\"", {"loss.element", "bce", "linear", "sigmoid"}},
                });
}

TEST(RefusalTest, Probe) {
  ExpectRefused(FullFile(),
                std::vector<Edit>{
                    {"/probe", "", {"cvae.probe.condition", "and 1 more", "used by nothing"}},
                    {"/probe", "1", {"probe", "an object"}},
                    {"/probe/rows", "1", {"probe", "unknown key \"rows\""}},
                    {"/probe/tolerance", "1e-5", {"probe.tolerance", "an object"}},
                    {"/probe/tolerance/fp16", "1", {"probe.tolerance", "unknown key \"fp16\"", "fp32, bf16"}},
                    {"/probe/tolerance/fp32", "0", {"probe.tolerance.fp32", "above 0"}},
                    {"/probe/tolerance/fp32", "-1", {"probe.tolerance.fp32", "above 0"}},
                    {"/probe/tolerance/bf16", "2", {"probe.tolerance.bf16", "at most 1"}},
                    {"/probe/tolerance/bf16", "\"x\"", {"probe.tolerance.bf16", "a number"}},
                });
  ExpectRefused(
      FullFile(),
      std::vector<Change>{
          {[](ModelFile& f) { f.tensors.erase("cvae.probe.x_hat"); }, {"probe", "cvae.probe.x_hat", "missing"}},
          {[](ModelFile& f) { f.tensors.erase("cvae.probe.eps"); }, {"probe", "cvae.probe.eps", "missing"}},
          {[](ModelFile& f) {
             f.Add("cvae.probe.mu", {3, 2});
           },
           {"cvae.probe.mu", "[3, 2]", "[2, 2]"}},
          {[](ModelFile& f) {
             f.Add("cvae.probe.x", {2, 4});
           },
           {"cvae.probe.x", "[2, 4]", "[2, 5]"}},
          {[](ModelFile& f) {
             f.Add("cvae.probe.x_hat", {0, 5});
           },
           {"cvae.probe.x_hat", "0 rows"}},
          {[](ModelFile& f) {
             f.Add("cvae.probe.x_hat", {5000, 5});
           },
           {"5000 rows", "4096"}},
          {[](ModelFile& f) { f.Add("cvae.probe.x_hat", {}); }, {"cvae.probe.x_hat", "expected rows"}},
          {[](ModelFile& f) { f.tensors["cvae.probe.x"].Set(7, NAN); }, {"cvae.probe.x", "[1, 2]", "nan"}},
      });
}

TEST(RefusalTest, Tensors) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto set_dtype = [](const char* name, DType dtype, int bytes) {
    return [=](ModelFile& f) {
      f.tensors[name].dtype = dtype;
      f.tensors[name].data.resize(bytes);
    };
  };
  ExpectRefused(
      FullFile(),
      std::vector<Change>{
          {[](ModelFile& f) { f.tensors.erase("enc.2.bias"); }, {"encoder[2]", "\"enc.2.bias\"", "missing"}},
          {[](ModelFile& f) { f.tensors.erase("dec.0.weight"); }, {"decoder[0]", "\"dec.0.weight\"", "missing"}},
          {[](ModelFile& f) { f.Add("extra", {1}); }, {"\"extra\"", "used by nothing"}},
          {[](ModelFile& f) { f.Add("enc.0.bias", {5}); }, {"encoder[0]", "enc.0.bias", "F32 [5]", "[6]"}},
          {[](ModelFile& f) {
             f.Add("enc.0.bias", {6, 1});
           },
           {"encoder[0]", "enc.0.bias", "F32 [6, 1]", "[6]"}},
          {[](ModelFile& f) { f.Add("enc.0.weight", {60}); }, {"encoder[0]", "F32 [60]", "two dimensions"}},
          {[](ModelFile& f) {
             f.Add("enc.0.weight", {0, 10});
           },
           {"encoder[0]", "F32 [0, 10]", "65536"}},
          {[](ModelFile& f) {
             f.Add("enc.0.weight", {6, 0});
           },
           {"encoder[0]", "F32 [6, 0]", "131072"}},
          {[](ModelFile& f) {
             f.Add("dec.2.weight", {70000, 1});
           },
           {"decoder[2]", "F32 [70000, 1]", "65536"}},
          {set_dtype("enc.0.bias", DType::kI32, 24), {"encoder[0]", "I32 [6]", "F32, F16 or BF16"}},
          {set_dtype("enc.0.weight", DType::kF64, 480), {"encoder[0]", "F64 [6, 10]", "F32, F16 or BF16"}},
          {[](ModelFile& f) { f.tensors["enc.0.weight"].Set(23, NAN); },
           {"encoder[0]", "enc.0.weight", "[2, 3] is nan"}},
          {[](ModelFile& f) { f.tensors["enc_mu.bias"].Set(1, -kInfinity); },
           {"heads.mu", "enc_mu.bias", "[1] is -inf"}},
      });
  ModelFile half = FullFile();
  half.tensors["dec.0.bias"] = {DType::kF16, {7}, std::string(12, '\0') + std::string("\x00\x7c", 2)};
  ExpectRefused(half, {"decoder[0]", "dec.0.bias", "[6] is inf"});
}

TEST(RefusalTest, ATensorIsUsedOnce) {
  ModelFile file = FullFile();
  file.AddLinear("square", 4, 4);
  Json& encoder = (*file.description)["encoder"];
  encoder.push_back({{"linear", "square"}});
  encoder.push_back({{"linear", "square"}});
  ExpectRefused(file, {"encoder[6]", "square.weight", "used by encoder[5] already"});
}

TEST(RefusalTest, DecoderAlone) {
  ExpectRefused(DecoderFile(), std::vector<Edit>{
                                   {"/decoder", "[\"relu\"]", {"decoder", "needs a linear"}},
                                   {"/condition/1/width", "4", {"decoder", "takes 7 columns", "condition's 7"}},
                                   {"/input", "{\"width\": 0}", {"input.width"}},
                               });
  ModelFile wide;
  wide.description = Json::parse(R"({"format": 1, "condition": [], "decoder": [{"linear": "d"}]})");
  wide.AddLinear("d", 1, 70000);
  ExpectRefused(wide, {"decoder", "takes 70000 columns", "65536"});
}

TEST(RefusalTest, AnEmptyDecoderTooWide) {
  ModelFile file;
  file.description = Json::parse(R"({"format": 1, "input": {"width": 1}, "encoder": [{"linear": "e"}],
      "condition": [{"name": "c", "width": 65536}], "heads": {"mu": "m", "logvar": "v"}, "decoder": []})");
  file.AddLinear("e", 1, 65537);
  file.AddLinear("m", 1, 1);
  file.AddLinear("v", 1, 1);
  ExpectRefused(file, {"decoder", "65537 columns", "65536"});
}

TEST(RefusalTest, WhatIsNoJson) {
  const auto refused = [](const std::string& description, const Words& words) {
    const absl::StatusOr<Safetensors> file = Safetensors::Parse(SerializeSafetensors({}, {{"cvae", description}}));
    ASSERT_TRUE(file.ok()) << file.status();
    const absl::Status status = ParseModel(*file).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    for (const std::string& word : words) EXPECT_THAT(std::string(status.message()), HasSubstr(word));
  };
  refused("", {"description", "not JSON"});
  refused("{'format': 1}", {"description", "not JSON"});
  refused(R"({"format": 1, "format": 1})", {"description", "\"format\" twice"});
  refused(R"({"format": 1, "loss": {"kl_weight": 1e999}})", {"description", "not JSON"});
  refused(std::string(1000, '['), {"description", "32 levels"});
  refused(std::string(5 << 20, ' '), {"description", "5242880 bytes", "at most 4194304"});
}

TEST(RefusalTest, BareFiles) {
  ExpectRefused(
      ReferenceFile(),
      std::vector<Change>{
          {[](ModelFile& f) { f.tensors.erase("enc_mu.bias"); },
           {"\"enc_mu.bias\"", "MODELS.md", "reference state_dict"}},
          {[](ModelFile& f) { f.Add("dec.4.weight", {1}); }, {"lacks none", "\"dec.4.weight\"", "MODELS.md"}},
          {[](ModelFile& f) { f.tensors.clear(); }, {"lacks \"dec.0.bias\"", "and 5 more", "MODELS.md"}},
          {[](ModelFile& f) { f.AddLinear("dec.2", 6, 4); }, {"enc.0.weight", "5 columns", "at least 6"}},
          {[](ModelFile& f) { f.Add("enc.0.weight", {20}); }, {"encoder[0]", "two dimensions"}},
          {[](ModelFile& f) { f.AddLinear("dec.0", 4, 5); }, {"decoder[0]", "dec.0.weight", "[4, 5]", "[4, 4]"}},
          {[](ModelFile& f) { f.AddLinear("enc_logvar", 3, 4); }, {"heads.logvar", "3 rows", "expected 2"}},
          {[](ModelFile& f) { f.AddLinear("enc_mu", 2, 5); }, {"heads.mu", "[2, 5]", "[2, 4]"}},
          {[](ModelFile& f) { f.tensors["dec.2.bias"].Set(0, NAN); }, {"decoder[2]", "dec.2.bias", "[0] is nan"}},
          {[](ModelFile& f) {
             for (int i = 0; i < 100; ++i) f.Add(std::string(1000, 'n') + std::to_string(i), {1});
           },
           {"nnn...", "and 95 more"}},
      });
}

}  // namespace
}  // namespace cvae
