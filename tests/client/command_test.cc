// The whole command against a service in this process: inputs of every kind, answers in every form, exit codes.

#include "client/command/command.h"

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/safetensors.h"
#include "client/command/npy.h"
#include "client/command/output.h"
#include "client/command/picture.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/client/fake_service.h"

namespace cvae {
namespace {

constexpr uint32_t kRows = 5;

std::string Bytes(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    std::string pattern = testing::TempDir() + "/cvae-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    std::vector<float> x;
    for (uint32_t i = 0; i < kRows * kD; ++i) x.push_back(static_cast<float>(i % 7) / 7);
    x_ = Bytes(x);
    const int64_t labels[kRows] = {0, 1, 2, 1, 0};
    Write("rows.npy", SerializeNpy({DType::kF32, {kRows, kD}, x_}));
    Write("labels.npy", SerializeNpy({DType::kI64, {kRows}, {reinterpret_cast<const char*>(labels), sizeof(labels)}}));
    Write("rows.safetensors",
          SerializeSafetensors({{"x", {DType::kF32, {kRows, kD}, x_}},
                                {"labels", {DType::kI64, {kRows}, {reinterpret_cast<const char*>(labels), 40}}}}));
    std::string csv = "digit";
    for (uint32_t j = 0; j < kD; ++j) absl::StrAppend(&csv, ",x", j);
    const char* names[] = {"zero", "one", "two", "1", "zero"};
    for (uint32_t i = 0; i < kRows; ++i) {
      absl::StrAppend(&csv, "\n", names[i]);
      for (uint32_t j = 0; j < kD; ++j) absl::StrAppend(&csv, ",", (i * kD + j) % 7, "e0");
    }
    Write("sevenths.csv", csv);  // seven times too large
  }
  ~CommandTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
  }

  // Runs `cvae LINE`; words that begin with '%' are names in the directory. Returns the exit code.
  int Run(const std::string& line, const std::string& input = "") {
    std::vector<std::string> arguments;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const size_t percent = word.find('%');
      if (percent != std::string::npos) word.replace(percent, 1, directory_ + "/");
      arguments.push_back(word);
    }
    std::istringstream in(input);
    std::ostringstream out, err;
    const int code = RunCommand(arguments, service_.target(), {in, out, err});
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  // Runs a line that must succeed, and returns what it printed.
  std::string Good(const std::string& line, const std::string& input = "") {
    EXPECT_EQ(Run(line, input), 0) << line << ": " << err_;
    EXPECT_EQ(err_, "");
    return out_;
  }

  // Runs a line that must fail with `code`, and returns its one line of complaint.
  std::string Bad(int code, const std::string& line, const std::string& input = "") {
    EXPECT_EQ(Run(line, input), code) << line << ": " << err_;
    EXPECT_EQ(out_, "");
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
    EXPECT_EQ(err_.substr(0, 6), "cvae: ");
    std::string text = err_.substr(6, err_.size() - 7);
    for (size_t at; (at = text.find(directory_ + "/")) != std::string::npos;) text.erase(at, directory_.size() + 1);
    return text;
  }

  nlohmann::json Json(const std::string& line, const std::string& input = "") {
    return nlohmann::json::parse(Good(line + " --json", input));
  }

  FakeService service_;
  std::string directory_;
  std::string x_;
  std::string out_;
  std::string err_;
};

TEST_F(CommandTest, Info) {
  const std::string text = Good("info");
  EXPECT_NE(text.find("condition  digit: 3 classes (zero, one, two)"), std::string::npos) << text;
  EXPECT_EQ(Json("info")["input_dim"], 16);
  EXPECT_EQ(Json("info --model fake")["condition"][0]["class_names"][2], "two");
  EXPECT_EQ(Bad(2, "info --model other"), "model: got \"other\", served is \"fake\"");
}

TEST_F(CommandTest, EverySourceOfLabelsGivesTheSameBytes) {
  const auto expected = Json("encode --in %rows.npy --labels %labels.npy");
  EXPECT_EQ(expected["mu"].size(), kRows);
  EXPECT_EQ(expected["mu"][0].size(), kZ);
  EXPECT_EQ(expected, Json("encode --in %rows.safetensors"));
  EXPECT_EQ(expected, Json("encode --in %rows.safetensors --labels @labels"));
  EXPECT_EQ(expected, Json("encode --in %rows.safetensors --labels %rows.safetensors:labels"));
  EXPECT_EQ(expected, Json("encode --in %rows.npy --labels 0,1,2,1,0"));
  EXPECT_EQ(expected, Json("encode --in %rows.npy --labels=zero,one,two,one,zero"));
  Write("labels.csv", "digit\nzero\none\ntwo\none\nzero\n");
  EXPECT_EQ(expected, Json("encode --in %rows.npy --labels %labels.csv"));
  Write("y.csv", "1,0,0\n0,1,0\n0,0,1\n0,1,0\n1,0,0\n");
  EXPECT_EQ(expected, Json("encode --in %rows.npy --y %y.csv"));
  EXPECT_EQ(expected, Json("encode --in %rows.npy --part digit=0,one,2,1,0"));
  EXPECT_EQ(expected, Json("encode --in %rows.npy --part digit=%y.csv"));
  EXPECT_EQ(expected, Json("encode --in %rows.npy --labels %labels.npy --chunk-rows 2"));
}

TEST_F(CommandTest, OneLabelStandsForAllRows) {
  EXPECT_EQ(Json("encode --in %rows.npy --labels two"), Json("encode --in %rows.npy --labels 2,2,2,2,2"));
  EXPECT_EQ(Json("encode --in %rows.npy --part digit=two"), Json("encode --in %rows.npy --labels 2"));
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --labels 1,2"), "labels: got 2, the request has 5 rows");
  EXPECT_EQ(Bad(2, "loss --in %rows.safetensors --target %z.npy --eps %z.npy"), "z.npy: No such file or directory");
  Write("z.npy", SerializeNpy({DType::kF32, {2, kZ}, std::string_view(x_).substr(0, 4 * 2 * kZ)}));
  EXPECT_EQ(Bad(2, "loss --in %rows.safetensors --eps %z.npy"), "eps.rows: got 2, expected 5");
  EXPECT_EQ(Bad(2, "generate --labels 1 --rows 3 --eps %z.npy"), "eps.rows: got 2, expected 3");
  EXPECT_EQ(service_.attempts(), 4);  // the four good ones
}

TEST_F(CommandTest, CsvWithALabelColumnAndStandardInput) {
  const std::string csv = *ReadFile(Path("sevenths.csv"));
  const auto expected = Json("encode --in %sevenths.csv --labels @digit");
  EXPECT_EQ(expected, Json("encode --in - --labels @1", csv.substr(csv.find('\n') + 1)));
  EXPECT_EQ(Bad(2, "encode --in %sevenths.csv"), "sevenths.csv, line 2, column 1: \"zero\" is not a number");
  Write("wide.csv", "label,a\n1,2\n");
  EXPECT_EQ(Bad(2, "encode --in %wide.csv"),
            "wide.csv: got F32 [1, 2], expected rows of 16: [B, 16] (is a column of it the label? --labels @label)");
}

TEST_F(CommandTest, LossPrintsItsTerms) {
  const std::string text = Good("loss --in %rows.safetensors --seed 7");
  for (const char* line :
       {"loss       ", "recon_loss ", "kl_loss    ", "seed       7\n", "version    0123456789ab-fp32.n1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  EXPECT_EQ(Json("loss --in %rows.safetensors --seed 7"), Json("loss --in %rows.safetensors --seed 7 --chunk-rows 2"));
  EXPECT_EQ(Json("loss --in %rows.safetensors --mean").count("seed"), 0u);
}

TEST_F(CommandTest, LossRequestSaysWhatWasTyped) {
  Write("eps.npy", SerializeNpy({DType::kF32, {2 * kRows, kZ}, Bytes(std::vector<float>(2 * kRows * kZ, 0.5f))}));
  const auto json = Json(
      "loss --in %rows.safetensors --samples 2 --eps %eps.npy --per-row --per-column --per-latent --target %rows.npy "
      "--first-row 12");
  EXPECT_EQ(json["row_recon"].size(), kRows);
  EXPECT_EQ(json["column_recon"][0].size(), kD);
  EXPECT_EQ(json["latent_kl"][0].size(), kZ);
  const v1::LossRequest request = service_.last_loss();
  EXPECT_EQ(request.num_samples(), 2u);
  EXPECT_EQ(request.first_row(), 12u);
  EXPECT_EQ(request.eps().rows(), 2 * kRows);
  EXPECT_TRUE(request.has_target());
  EXPECT_EQ(request.encoding(), v1::Matrix::DATA);
  EXPECT_EQ(request.x().data(), x_);
}

TEST_F(CommandTest, CounterfactualAndLatents) {
  const auto json = Json("reconstruct --in %rows.safetensors --mean --return-z --loss --decode-labels two");
  EXPECT_EQ(json["z"][0].size(), kZ);
  EXPECT_EQ(json.count("loss"), 1u);
  EXPECT_EQ(service_.last_reconstruct().decode_condition().labels_size(), static_cast<int>(kRows));
  EXPECT_EQ(service_.last_reconstruct().decode_condition().labels(4), 2u);
}

TEST_F(CommandTest, Generate) {
  const auto json = Json("generate --labels 0,two --seed 18446744073709551615 --samples-per-row 3 --temperature 0.5");
  EXPECT_EQ(json["x_hat"].size(), 6u);
  EXPECT_EQ(json["seed"], "18446744073709551615");
  EXPECT_EQ(service_.last_generate().temperature(), 0.5f);
  EXPECT_EQ(Json("generate --labels 1 --rows 4 --mean")["x_hat"].size(), 4u);
  EXPECT_EQ(Bad(2, "generate"), "under which condition? --labels, --y or --part");
  EXPECT_EQ(Bad(2, "generate --in %rows.npy"),
            "rows.npy: generate takes no rows; a condition is --labels FILE, --y FILE or --part");
}

TEST_F(CommandTest, ColumnsStayApartHoweverWide) {
  EXPECT_NE(Good("loss --in %rows.safetensors --mean --per-column --out %columns.safetensors").find("column_recon ["),
            std::string::npos);
  const std::string mu = Bytes({-1.2345678e-38f, -1.2345678e-38f, -1.2345678e-38f});
  Answer answer;
  answer.tensors = {{"mu", {DType::kF32, {1, 3}, mu}}};
  EXPECT_NE(FormatTable(answer).find("  -1.2346e-38  -1.2346e-38  -1.2346e-38\n"), std::string::npos)
      << FormatTable(answer);
}

TEST_F(CommandTest, EncodeThenDecodeThroughEveryFormat) {
  const auto z = Json("encode --in %rows.safetensors")["mu"];
  for (const std::string out : {"z.csv", "z.npy", "z.safetensors"}) {
    EXPECT_EQ(Good("encode --in %rows.safetensors --field mu --out %" + out),
              "mu         [5, 2]\nversion    0123456789ab-fp32.n1\n");
    const std::string tensor = out == "z.safetensors" ? " --tensor z=mu" : "";
    EXPECT_EQ(Json("decode --in %" + out + tensor + " --labels 1")["x_hat"].size(), kRows) << out;
  }
  EXPECT_EQ((*ReadFile(Path("z.csv"))).substr(0, 10), "mu_0,mu_1\n");
  const auto file = Safetensors::Read(Path("z.safetensors"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ToFloats(*file->Find("mu"))[1], z[0][1].get<float>());
  EXPECT_EQ(file->metadata().at("version"), "0123456789ab-fp32.n1");
  EXPECT_EQ(Bad(2, "encode --in %rows.safetensors --out %both.npy"),
            "both.npy: a .npy file holds one array; choose one of mu, logvar with --field, or write .safetensors");
  EXPECT_FALSE(std::filesystem::exists(Path("both.npy")));
}

TEST_F(CommandTest, LossToFiles) {
  const auto json = Json("loss --in %rows.safetensors --seed 7");
  Good("loss --in %rows.safetensors --seed 7 --per-row --out %loss.safetensors");
  const auto file = Safetensors::Read(Path("loss.safetensors"));
  double loss;
  ASSERT_EQ(file->Find("loss")->data.size(), sizeof(loss));
  std::memcpy(&loss, file->Find("loss")->data.data(), sizeof(loss));
  EXPECT_EQ(loss, json["loss"].get<double>());  // every digit
  EXPECT_EQ(file->Find("row_kl")->shape, std::vector<uint64_t>{kRows});
  EXPECT_EQ(file->metadata().at("seed"), "7");
  Good("loss --in %rows.safetensors --seed 7 --per-row --out %rows_loss.csv");
  EXPECT_EQ((*ReadFile(Path("rows_loss.csv"))).substr(0, 17), "row_recon,row_kl\n");
  Good("loss --in %rows.safetensors --seed 7 --out %loss.csv");
  EXPECT_EQ((*ReadFile(Path("loss.csv"))).substr(0, 24), "loss,recon_loss,kl_loss\n");
  EXPECT_EQ(Bad(2, "loss --in %rows.safetensors --out %loss.npy"),
            "loss.npy: a .npy file holds an array, and this answer has none; write a .csv");
}

TEST_F(CommandTest, TablesAreElidedAndAligned) {
  const std::string text = Good("generate --labels 1 --rows 40 --seed 1");
  EXPECT_EQ(text.substr(0, 15), "x_hat [40, 16]\n");
  std::istringstream lines(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  ASSERT_EQ(all.size(), 1 + 1 + 8 + 1 + 3 + 1 + 2u) << text;
  EXPECT_EQ(all[2].size(), all[1].size());
  EXPECT_NE(all[1].find("…"), std::string::npos);
  EXPECT_NE(all[10].find("…"), std::string::npos);
  EXPECT_EQ(all[13].substr(0, 13), "           39");
}

TEST_F(CommandTest, PicturesOfReconstructionsThenOfGeneratedRows) {
  Good("reconstruct --in %rows.safetensors --mean --picture %demo.png --picture-columns 3");
  const auto first = DecodePng(*ReadFile(Path("demo.png")));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->width, 2 + 3 * (48 + 2));
  EXPECT_EQ(first->height, 2 + 4 * (48 + 2) + kPictureGroupGap);
  EXPECT_EQ(first->pixels[2 * first->width + 2], 0);        // the first original's first number, 0
  EXPECT_EQ(first->pixels[2 * first->width + 2 + 12], 36);  // the second: 1/7 of 255
  Good("generate --labels 0,1,2 --samples-per-row 2 --seed 1 --picture %demo.png --picture-below %demo.png");
  const auto both = DecodePng(*ReadFile(Path("demo.png")));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->width, first->width);
  EXPECT_EQ(both->height, first->height + 2 + 3 * (48 + 2) + 2 * kPictureGroupGap);
  EXPECT_TRUE(std::equal(first->pixels.begin(), first->pixels.end(), both->pixels.begin()));
}

TEST_F(CommandTest, PicturesOfLogitsAreSquashed) {
  service_.model().set_output(v1::GetModelResponse::LOGITS);
  Good("generate --labels 0 --mean --picture %one.png");  // x_hat is 0, a probability of a half
  const auto picture = DecodePng(*ReadFile(Path("one.png")));
  EXPECT_EQ(picture->pixels[2 * picture->width + 2], 128);
}

TEST_F(CommandTest, PicturesThatCannotBeAreRefusedBeforeTheCall) {
  EXPECT_EQ(Bad(2, "generate --labels 0 --picture %a.png --width 3"),
            "--width: got 3, no divisor of the rows' 16 numbers");
  EXPECT_EQ(Bad(2, "generate --labels 0 --picture %a.png --picture-below %rows.npy").substr(0, 27),
            "rows.npy: is no PNG picture");
  EXPECT_NE(Bad(2, "generate --labels 0 --picture %a.png --picture-below %no.png").find("no.png"), std::string::npos);
  EXPECT_EQ(service_.attempts(), 0);
}

TEST_F(CommandTest, WhatTheServerCallsAMistakeIsExitCodeTwo) {
  service_.Refuse(Refusal(grpc::StatusCode::INVALID_ARGUMENT, "x: row 3\nis odd", -1), 1);
  EXPECT_EQ(Bad(2, "encode --in %rows.safetensors"), "x: row 3 is odd");
  EXPECT_EQ(Bad(2, "encode --in %rows.safetensors --model no"), "model: got \"no\", served is \"fake\"");
}

TEST_F(CommandTest, OtherRefusalsAreExitCodeOne) {
  service_.Refuse(Refusal(grpc::StatusCode::UNAVAILABLE, "draining", -1), 1);
  EXPECT_EQ(Bad(1, "encode --in %rows.safetensors"), service_.target() + ": draining");
  service_.Refuse(Refusal(grpc::StatusCode::UNAVAILABLE, "Socket closed", -1), 1);
  EXPECT_EQ(Bad(1, "encode --in %rows.safetensors"),
            service_.target() +
                " closed the connection (Socket closed); does a cvae-server listen there, and does it "
                "still run?");
}

TEST_F(CommandTest, NoServerAndNoAnswer) {
  EXPECT_EQ(Bad(1, "info --server unix:/tmp/cvae-no-such-socket"),
            "no server answers at unix:/tmp/cvae-no-such-socket (No such file or directory); --server or CVAE_SERVER "
            "names another");
  service_.Hang();
  EXPECT_EQ(Bad(1, "encode --in %rows.safetensors --timeout 50ms"),
            "no answer from " + service_.target() + " within 50ms; --timeout allows more");
}

TEST_F(CommandTest, WrongInputsAreExitCodeTwo) {
  EXPECT_EQ(Bad(2, "encode"), "which rows? --in FILE (.safetensors, .npy, .csv, or - for CSV)");
  EXPECT_NE(Bad(2, "encode --in %no.npy").find("no.npy"), std::string::npos);
  Write("empty.csv", "");
  EXPECT_EQ(Bad(2, "encode --in %empty.csv"), "empty.csv: is empty");
  Write("empty.safetensors", "");
  EXPECT_NE(Bad(2, "encode --in %empty.safetensors").find("empty.safetensors"), std::string::npos);
  EXPECT_EQ(Bad(2, "encode --in %rows.pt"),
            "--in: got \"rows.pt\", expected a name that ends in .safetensors, .npy or .csv, or -");
}

TEST_F(CommandTest, InputsThatDoNotFitTheModel) {
  EXPECT_EQ(Bad(2, "encode --in %labels.npy --labels 0"), "labels.npy: got I64 [5], expected rows of 16: [B, 16]");
  EXPECT_EQ(Bad(2, "encode --in %rows.safetensors --tensor x=y"),
            "rows.safetensors: has no tensor \"y\"; it has \"labels\", \"x\"; --tensor x=NAME picks another");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --labels three"),
            "--labels: row 0 is \"three\", no class of the model; it has zero, one, two");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --labels 3"), "--labels: row 0 is 3, the model has 3 classes, 0 to 2");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --part tilt=3"), "--part \"tilt\": the model's parts are digit");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy"), "under which condition? --labels, --y or --part");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --labels 1 --first-row 18446744073709551614"),
            "--first-row: got 18446744073709551614, with 5 rows it exceeds 2^64 - 1");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --part digit=1 --part tilt=3"),
            "--part \"tilt\": the model's parts are digit");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --y 1,0,0"),
            "--y: got \"1,0,0\", expected FILE.safetensors, .npy or .csv, or @NAME");
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --labels @digit"), "rows.npy: holds one array, nothing named \"digit\"");
  EXPECT_EQ(Bad(2, "encode --in %rows.safetensors --field x_hat"), "--field: got \"x_hat\", the answer has mu, logvar");
  Write("both.safetensors", SerializeSafetensors({{"x", {DType::kF32, {kRows, kD}, x_}},
                                                  {"y", {DType::kF32, {1}, std::string_view(x_).substr(0, 4)}},
                                                  {"labels", {DType::kF32, {1}, std::string_view(x_).substr(0, 4)}}}));
  EXPECT_EQ(Bad(2, "encode --in %both.safetensors"),
            "both.safetensors: has both \"labels\" and \"y\"; choose with --labels @labels or --y @y");
}

TEST_F(CommandTest, ModelsWithoutConditionOrEncoder) {
  service_.model().set_label_dim(0);
  service_.model().clear_condition();
  Good("encode --in %rows.safetensors");  // whose labels are there by chance
  EXPECT_EQ(Bad(2, "encode --in %rows.npy --labels 1"), "model \"fake\" takes no condition");
  EXPECT_EQ(Bad(2, "generate"), "how many rows? --rows N, as the model takes no condition");
  EXPECT_EQ(Json("generate --rows 3")["x_hat"].size(), 3u);
  service_.model().set_input_dim(0);
  EXPECT_EQ(Bad(2, "encode --in %rows.npy"), "model \"fake\" has no encoder: it decodes and generates only");
}

TEST_F(CommandTest, SeveralParts) {
  auto* tilt = service_.model().add_condition();
  tilt->set_name("tilt");
  tilt->set_width(2);
  service_.model().set_label_dim(5);
  EXPECT_EQ(Run("generate --part digit=one,two --part tilt=0.5,-1 --rows 2"), 0) << err_;
  const auto parts = service_.last_generate().parts();
  EXPECT_EQ(parts.at("digit").ids_size(), 2);
  EXPECT_EQ(parts.at("tilt").values().rows(), 2u);  // the typed row stands for both
  EXPECT_EQ(Bad(2, "generate --labels 1"),
            "--labels: labels are for a model of one class part; \"fake\" has digit, tilt: give each with --part "
            "NAME=...");
}

TEST_F(CommandTest, StandardInputThatCannotBeRead) {
  // As a file's buffer does it for a directory.
  struct Unreadable : std::streambuf {
    int underflow() override { throw std::ios_base::failure("Is a directory"); }
  } buffer;
  std::istream in(&buffer);
  std::ostringstream out, err;
  EXPECT_EQ(RunCommand({"encode", "--in", "-", "--labels", "1"}, service_.target(), {in, out, err}), 2);
  EXPECT_EQ(err.str(), "cvae: standard input: cannot be read\n");
}

TEST_F(CommandTest, OutputThatCannotBeWritten) {
  EXPECT_EQ(Bad(1, "encode --in %rows.safetensors --out %no/out.csv"),
            "no/out.csv: cannot be written: No such file or directory");
  EXPECT_EQ(Bad(1, "generate --labels 1 --picture %no/out.png --server unix:/no/server"),
            "no/out.png: cannot be written: No such file or directory");  // before anything is computed
  std::istringstream in;
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(RunCommand({"info"}, service_.target(), {in, out, err}), 1);
  EXPECT_EQ(err.str(), "cvae: standard output cannot be written\n");
}

TEST_F(CommandTest, ProgressOnATerminalOnly) {
  const std::vector<std::string> line = {"encode", "--in", Path("rows.safetensors"), "--chunk-rows", "2"};
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(RunCommand(line, service_.target(), {in, out, err, true}), 0);
  EXPECT_NE(err.str().find("40%  2/5 rows"), std::string::npos) << err.str();
  EXPECT_EQ(err.str().substr(err.str().size() - 4), "\r\033[K");
}

}  // namespace
}  // namespace cvae
