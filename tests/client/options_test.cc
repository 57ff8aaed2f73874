// The command line: what is taken, and what is told to whom.

#include "client/command/options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

absl::StatusOr<CommandLine> Parse(const std::string& line) {
  const std::vector<std::string> arguments = absl::StrSplit(line, ' ', absl::SkipEmpty());
  return ParseCommandLine(arguments, "default:1");
}

Options Good(const std::string& line) {
  const auto parsed = Parse(line);
  EXPECT_TRUE(parsed.ok()) << line << ": " << parsed.status();
  return parsed.ok() ? parsed->options : Options();
}

std::string Bad(const std::string& line) {
  const auto parsed = Parse(line);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << line;
  return std::string(parsed.status().message());
}

TEST(OptionsTest, ValuesBothWays) {
  const Options options = Good(
      "loss --in rows.csv --labels=@digit --seed 18446744073709551615 --samples=64 --per-row --timeout 1.5 "
      "--server unix:/s --model m --chunk-rows 7 --first-row 9 --out a=b.csv --tensor x=images --tensor eps=e");
  EXPECT_EQ(options.command, Command::kLoss);
  EXPECT_EQ(options.in, "rows.csv");
  EXPECT_EQ(options.condition.labels, "@digit");
  EXPECT_EQ(options.seed, 18446744073709551615u);
  EXPECT_EQ(options.samples, 64u);
  EXPECT_TRUE(options.per_row);
  EXPECT_FALSE(options.per_column);
  EXPECT_EQ(options.timeout, absl::Milliseconds(1500));
  EXPECT_EQ(options.server, "unix:/s");
  EXPECT_EQ(options.chunk_rows, 7u);
  EXPECT_EQ(options.first_row, 9u);
  EXPECT_EQ(options.out, "a=b.csv");
  EXPECT_EQ(options.tensors.at("x"), "images");
  EXPECT_EQ(options.tensors.at("eps"), "e");
}

TEST(OptionsTest, Defaults) {
  const Options options = Good("generate");
  EXPECT_EQ(options.server, "default:1");
  EXPECT_FALSE(options.seed.has_value());
  EXPECT_FALSE(options.temperature.has_value());
  EXPECT_EQ(options.timeout, absl::Seconds(60));
}

TEST(OptionsTest, PartsAndPictures) {
  const Options options = Good(
      "reconstruct -i a.npy --part digit=3 --part tilt=@t --decode-part digit=a=b --picture p.png --range -1,1 "
      "--picture-columns 8 --width 16 --picture-below p.png --timeout inf");
  EXPECT_EQ(options.condition.parts.at("tilt"), "@t");
  EXPECT_EQ(options.decode_condition.parts.at("digit"), "a=b");
  EXPECT_EQ(options.range_low, -1);
  EXPECT_EQ(options.picture_columns, 8u);
  EXPECT_EQ(options.timeout, absl::InfiniteDuration());
}

TEST(OptionsTest, AddressesThatNoServerCanHave) {
  for (const char* address : {"a:1", "a.b.c:65535", "[::1]:8001", "127.0.0.1:8001", "unix:/s", "unix:s"}) {
    EXPECT_EQ(Good(absl::StrCat("info --server ", address)).server, address);
  }
  for (const char* address : {"a", ":1", "a:", "a:b", "a:0", "a:65536", "a:-1", "http://a:1", "unix:"}) {
    EXPECT_EQ(Bad(absl::StrCat("info --server ", address)),
              absl::StrCat("--server: got \"", address, "\", expected HOST:PORT or unix:PATH"));
  }
}

TEST(OptionsTest, MistakesAreNamed) {
  EXPECT_EQ(Bad(""), "no command; 'cvae --help' lists them");
  EXPECT_EQ(Bad("losses"), "\"losses\" is no command; 'cvae --help' lists them");
  EXPECT_EQ(Bad("--server=a:1 info"),
            "\"--server=a:1\" stands before the command; it goes after: cvae COMMAND [OPTIONS]");
  EXPECT_EQ(Bad("loss"), "which rows? --in FILE (.safetensors, .npy, .csv, or - for CSV)");
  EXPECT_EQ(Bad("loss rows.csv"), "\"rows.csv\" is no option; files are given as --in FILE and --out FILE");
  EXPECT_EQ(Bad("loss --in"), "--in: expected FILE after it");
  EXPECT_EQ(Bad("loss --in a.csv --rows 3"), "--rows belongs to generate; 'cvae loss --help' lists what it takes");
  EXPECT_EQ(Bad("loss --foo 3"), "--foo is not known; 'cvae loss --help' lists what it takes");
  EXPECT_EQ(Bad("loss --per-row=1"), "--per-row: takes no value");
  EXPECT_EQ(Bad("loss --seed -1"), "--seed: got \"-1\", expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(Bad("loss --seed 18446744073709551616"),
            "--seed: got \"18446744073709551616\", expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(Bad("loss --samples 0"), "--samples: got \"0\", expected a whole number from 1 to 4294967295");
  EXPECT_EQ(Bad("loss --samples 4294967296"),
            "--samples: got \"4294967296\", expected a whole number from 1 to 4294967295");
  EXPECT_EQ(Bad("loss --in a.csv --seed 1 --mean"), "--seed, --mean and --eps exclude each other");
  EXPECT_EQ(Bad("loss --in a.csv --labels 1 --y b.npy"), "--labels, --y and --part exclude each other");
  EXPECT_EQ(Bad("loss --part digit"), "--part: got \"digit\", expected NAME=LIST, NAME=FILE or NAME=@NAME");
  EXPECT_EQ(Bad("loss --part a=1 --part a=2"), "--part: \"a\" is given twice");
  EXPECT_EQ(Bad("loss --tensor mu=a"), "--tensor: got \"mu\", expected x, z, y, labels, eps or target before the '='");
  EXPECT_EQ(Bad("loss --timeout 0"), "--timeout: got \"0\", expected a time such as 30, 1.5s, 500ms or inf");
  EXPECT_EQ(Bad("loss --timeout nan"), "--timeout: got \"nan\", expected a time such as 30, 1.5s, 500ms or inf");
  EXPECT_EQ(Bad("loss --in a.csv --out a.txt"),
            "--out: got \"a.txt\", expected a name that ends in .safetensors, .npy or .csv");
  EXPECT_EQ(Bad("decode --in a.csv --picture a.jpg"), "--picture: got \"a.jpg\", expected FILE.png");
  EXPECT_EQ(Bad("decode --in a.csv --width 3"),
            "--picture-below, --picture-columns and --width go with --picture FILE.png");
  EXPECT_EQ(Bad("decode --range 1,0"), "--range: got \"1,0\", expected two numbers LOW,HIGH with LOW < HIGH");
  EXPECT_EQ(Bad("decode --range 1"), "--range: got \"1\", expected two numbers LOW,HIGH with LOW < HIGH");
  EXPECT_EQ(Bad("generate --temperature -1"), "--temperature: got \"-1\", expected a number, 0 or more");
  EXPECT_EQ(Bad("reconstruct --in a.csv --per-row"),
            "--per-row, --per-column, --per-latent and --target go with --loss");
}

TEST(OptionsTest, HelpNamesEveryOptionOfItsCommand) {
  EXPECT_NE(Parse("--help")->text.find("reconstruct"), std::string::npos);
  EXPECT_EQ(Parse("loss --help")->text, Parse("help loss")->text);
  EXPECT_EQ(Parse("loss --in a.csv -h")->text, Parse("help loss")->text);
  EXPECT_NE(Parse("loss --help")->text.find("\nNoise "), std::string::npos);
  EXPECT_NE(Parse("loss --help")->text.find("  --samples K "), std::string::npos);
  EXPECT_EQ(Parse("loss --help")->text.find("--temperature"), std::string::npos);
  EXPECT_EQ(Parse("--version")->text.substr(0, 5), "cvae ");
  EXPECT_FALSE(Parse("help loose").ok());
}

}  // namespace
}  // namespace cvae
