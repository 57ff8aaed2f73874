// What the parser refuses, and how it says so.

#include <cstring>
#include <string>
#include <vector>

#include "base/safetensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::string_literals;

std::string File(const std::string& header, const std::string& data = "") {
  const uint64_t size = header.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + header + data;
}

// The message that `bytes` are refused with; short and printable, whatever they hold.
std::string Complaint(const std::string& bytes) {
  const absl::Status status = Safetensors::Parse(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_LT(message.size(), 1000u);
  for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << message;
  return message;
}

struct Case {
  std::string header;
  std::string data;
  std::vector<std::string> words;  // that the message has
};

void ExpectRefused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string message = Complaint(File(c.header, c.data));
    for (const std::string& word : c.words) EXPECT_THAT(message, HasSubstr(word)) << c.header.substr(0, 200);
  }
}

// A header of one tensor, a U8 [4] but for the field `field`, which is `value`.
std::string One(const std::string& field, const std::string& value) {
  std::string json = R"({"t": {"dtype": DTYPE, "shape": SHAPE, "data_offsets": OFFSETS}})";
  const auto put = [&](const std::string& name, const std::string& standard) {
    json.replace(json.find(name), name.size(), field == name ? value : standard);
  };
  put("DTYPE", "\"U8\"");
  put("SHAPE", "[4]");
  put("OFFSETS", "[0, 4]");
  return json;
}

TEST(SafetensorsRefusalTest, TheBaseOfTheCasesIsGood) {
  EXPECT_TRUE(Safetensors::Parse(File(One("", ""), "abcd")).ok());
  EXPECT_TRUE(Safetensors::Parse(File(One("", "") + "     ", "abcd")).ok());
}

TEST(SafetensorsRefusalTest, Fields) {
  ExpectRefused({
      {One("DTYPE", "\"F8_E4M3\""), "abcd", {"\"t\"", "dtype", "F8_E4M3", "BF16"}},
      {One("DTYPE", "7"), "abcd", {"\"t\"", "dtype", "a number", "a string"}},
      {One("DTYPE", "null"), "abcd", {"dtype", "null"}},
      {One("SHAPE", "4"), "abcd", {"\"t\"", "shape", "a number", "an array"}},
      {One("SHAPE", "[-4]"), "abcd", {"shape", "negative"}},
      {One("SHAPE", "[4.0]"), "abcd", {"shape", "fraction"}},
      {One("SHAPE", "[18446744073709551616]"), "abcd", {"shape", "too large"}},
      {One("SHAPE", "[[4]]"), "abcd", {"shape", "an array"}},
      {One("SHAPE", "[\"4\"]"), "abcd", {"shape", "a string"}},
      {One("SHAPE", "[true]"), "abcd", {"shape", "a boolean"}},
      {One("SHAPE", "{\"a\": 1}"), "abcd", {"shape", "an object"}},
      {One("OFFSETS", "[0]"), "abcd", {"data_offsets", "two"}},
      {One("OFFSETS", "[0, 4, 4]"), "abcd", {"data_offsets", "2 numbers"}},
      {One("OFFSETS", "[-1, 4]"), "abcd", {"data_offsets", "negative"}},
      {One("OFFSETS", "\"0\""), "abcd", {"data_offsets", "a string"}},
      {One(
           "SHAPE", "[1" +
                        [] {
                          std::string ones;
                          for (int i = 0; i < 64; ++i) ones += ",1";
                          return ones;
                        }() +
                        "]"),
       "abcd",
       {"shape", "64"}},
  });
}

TEST(SafetensorsRefusalTest, SizesAndOffsets) {
  ExpectRefused({
      {One("SHAPE", "[5]"), "abcd", {"\"t\"", "U8 [5]", "takes 5 bytes", "hold 4"}},
      {One("DTYPE", "\"F32\""), "abcd", {"F32 [4]", "takes 16 bytes"}},
      {One("SHAPE", "[9223372036854775808, 2]"), "abcd", {"overflows"}},
      {One("SHAPE", "[4294967296, 4294967296, 4]"), "abcd", {"overflows"}},
      {One("SHAPE", "[18446744073709551615, 2, 0]"), "abcd", {"overflows"}},
      {One("OFFSETS", "[4, 0]"), "abcd", {"end before they begin"}},
      {One("OFFSETS", "[0, 4]"), "abc", {"end at 4", "only 3"}},
      {One("OFFSETS", "[18446744073709551612, 18446744073709551615]"), "abcd", {"only 4 bytes"}},
      {One("", ""), "abcde", {"end at 4", "5 bytes", "no tensor owns"}},
      {One("OFFSETS", "[1, 5]"), "abcde", {"\"t\"", "begins at 1", "no tensor owns"}},
      {R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}, "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}})",
       "abc",
       {"\"b\"", "begins at 1", "expected 2", "overlaps"}},
      {R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}, "b": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}})",
       "ab",
       {"overlaps"}},
      {R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}, "b": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}})",
       "abc",
       {"\"b\"", "begins at 2", "no tensor owns"}},
      {R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}, "b": {"dtype": "U8", "shape": [0], "data_offsets": [1, 1]}})",
       "ab",
       {"\"b\"", "overlaps"}},
  });
}

TEST(SafetensorsRefusalTest, TheHeadersStructure) {
  const std::string t = R"("t": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]})";
  ExpectRefused({
      {"{" + t + ", " + t + "}", "abcd", {"\"t\"", "twice"}},
      {"{" + t + R"(, "\u0074": {"dtype": "U8", "shape": [0], "data_offsets": [4, 4]}})", "abcd", {"\"t\"", "twice"}},
      {R"({"t": {"dtype": "U8", "dtype": "U8", "shape": [4], "data_offsets": [0, 4]}})", "abcd", {"dtype", "twice"}},
      {R"({"__metadata__": {"a": "x", "a": "y"}, )" + t + "}", "abcd", {"__metadata__", "\"a\"", "twice"}},
      {R"({"__metadata__": {}, "__metadata__": {}, )" + t + "}", "abcd", {"__metadata__", "twice"}},
      {R"({"__metadata__": {"a": 1}, )" + t + "}", "abcd", {"__metadata__", "\"a\"", "a number", "a string"}},
      {R"({"__metadata__": null, )" + t + "}", "abcd", {"__metadata__", "null", "an object"}},
      {R"({"t": {"shape": [4], "data_offsets": [0, 4]}})", "abcd", {"\"t\"", "no dtype"}},
      {R"({"t": {"dtype": "U8", "data_offsets": [0, 4]}})", "abcd", {"\"t\"", "no shape"}},
      {R"({"t": {"dtype": "U8", "shape": [4]}})", "abcd", {"\"t\"", "no data_offsets"}},
      {R"({"t": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4], "x": 1}})",
       "abcd",
       {"\"t\"", "\"x\"", "unknown"}},
      {R"({"t": 1})", "", {"\"t\"", "a number", "an object"}},
      {R"({"t": [1]})", "", {"\"t\"", "an array", "an object"}},
      {"{" + t + "}junk", "abcd", {"not JSON"}},
      {"{" + t + "}\0junk"s, "abcd", {"NUL"}},
      {"{" + t, "abcd", {"not JSON"}},
      {"{" + t + ",}", "abcd", {"not JSON"}},
      {"{\"\xff\": 1}", "", {"not JSON"}},
  });
}

TEST(SafetensorsRefusalTest, DeepNestingIsRefusedAtItsFirstLevel) {
  std::string deep = "{";
  for (int i = 0; i < 100'000; ++i) deep += "\"a\":{";
  ExpectRefused({{deep, "", {"\"a\""}}, {"{\"a\":" + std::string(1'000'000, '['), "", {"\"a\"", "an array"}}});
}

TEST(SafetensorsRefusalTest, NamesInMessagesAreEscapedAndCut) {
  ExpectRefused({{R"({"\u001b[31m\n\u0000é": 1})", "", {R"(\033[31m\n\000\303\251)"}},
                 {"{\"" + std::string(100'000, 'n') + "\": 1}", "", {"nnn...\"", "100000 bytes"}},
                 {"{\"" + std::string(100'000, 'n'), "", {"not JSON"}}});
}

TEST(SafetensorsRefusalTest, Lengths) {
  EXPECT_THAT(Complaint(""), HasSubstr("it is empty"));
  EXPECT_THAT(Complaint("1234567"), HasSubstr("only 7 bytes"));
  EXPECT_THAT(Complaint(std::string(8, '\0')), HasSubstr("header is empty"));
  EXPECT_THAT(Complaint("\x03\0\0\0\0\0\0\0{}"s), HasSubstr("3 bytes, but only 2 follow"));
  EXPECT_THAT(Complaint("\xff\xff\xff\xff\xff\xff\xff\xff{}"s),
              HasSubstr("18446744073709551615 bytes, more than 100000000"));
  EXPECT_THAT(Complaint("\x01\xe1\xf5\x05\0\0\0\0{}"s), HasSubstr("100000001 bytes, more than"));
  EXPECT_THAT(Complaint("\x02\0\0\0\0\0\0\0 {}"s), HasSubstr("no JSON object"));
}

TEST(SafetensorsRefusalTest, OtherKindsOfFilesAreToldSoWithTheRemedy) {
  const std::pair<std::string, std::string> kinds[] = {
      {"PK\x03\x04\0\0\x08\x08\0\0archive/data.pkl"s, "zip archive, as torch.save"},
      {"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19."s, "pickle"},
      {"\x80\x04\x95\0\0\0\0\0\0\0\0\0\0"s, "pickle"},
      {"\x89HDF\r\n\x1a\n\0\0\0"s, "HDF5"},
      {"<!DOCTYPE html><html>"s, "HTML"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0"s, "git lfs pull"},
      {"\x93NUMPY\x01\0v\0{'descr'"s, "NumPy"},
      {"\x1f\x8b\x08\0\0\0\0\0\0\0\0"s, "gzip"},
      {"GGUF\x03\0\0\0\0\0\0\0"s, "GGUF"},
      {"{\"format\": 1, \"name\": \"x\"}"s, "bare JSON"},
  };
  for (const auto& [bytes, kind] : kinds) {
    const std::string message = Complaint(bytes);
    EXPECT_THAT(message, StartsWith("not a safetensors file"));
    EXPECT_THAT(message, HasSubstr(kind));
    EXPECT_THAT(message, HasSubstr("s.save_file(torch.load(\"model.pth\"")) << kind;
  }
}

TEST(SafetensorsRefusalTest, ReadNamesThePath) {
  const absl::Status status = Safetensors::Read(CVAE_SOURCE_DIR "/tests/golden/README.md").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith(CVAE_SOURCE_DIR "/tests/golden/README.md: not a safetensors"));
}

// Every prefix of a good file.
TEST(SafetensorsRefusalTest, PrefixesAreRefused) {
  const std::string good = File(One("", ""), "abcd");
  for (size_t size = 0; size < good.size(); ++size) Complaint(good.substr(0, size));
}

}  // namespace
}  // namespace cvae
