#include "base/json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

using testing::HasSubstr;

std::string Complaint(std::string_view text) {
  const absl::Status status = ParseJson(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(ParseJsonTest, Parses) {
  const absl::StatusOr<Json> json = ParseJson(R"({"a": [1, {"b": null}], "c": {"a": "x"}})");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ((*json)["c"]["a"], "x");
  EXPECT_EQ((*json)["a"].size(), 2u);
}

TEST(ParseJsonTest, RefusesAKeyThatIsThereTwice) {
  EXPECT_THAT(Complaint(R"({"a": 1, "b": {}, "a": 2})"), HasSubstr("\"a\" twice"));
  EXPECT_THAT(Complaint(R"([{"b": {"c": 1, "\u0063": 2}}])"), HasSubstr("\"c\" twice"));
  EXPECT_TRUE(ParseJson(R"([{"a": 1}, {"a": {"a": 2}}])").ok());
}

TEST(ParseJsonTest, BoundsTheDepth) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(ParseJson(nested(32)).ok());
  EXPECT_THAT(Complaint(nested(33)), HasSubstr("32 levels"));
  EXPECT_THAT(Complaint(std::string(1'000'000, '[')), HasSubstr("32 levels"));
  EXPECT_TRUE(ParseJson(nested(3), 3).ok());
  EXPECT_FALSE(ParseJson(nested(4), 3).ok());
}

TEST(ParseJsonTest, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "{\"a\": 1,}", "nan", "{} {}", "// no\n{}", "1e999", "\"\xff\"", "\"a\nb\""}) {
    EXPECT_THAT(Complaint(text), HasSubstr("not JSON")) << text;
  }
  EXPECT_THAT(Complaint(std::string_view("{}\0 junk", 8)), HasSubstr("NUL"));
}

TEST(ParseJsonTest, ComplaintsAreShortAndPrintable) {
  const std::string complaint = Complaint("\"" + std::string(100'000, 'x') + "\x01\"");
  EXPECT_LT(complaint.size(), 1000u);
  for (const char c : complaint) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
}

TEST(IsUtf8Test, TellsWellFormedFromOther) {
  for (const char* good : {"", "digits", "zw\xc3\xb6lf", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_TRUE(IsUtf8(good)) << good;
  // A lone byte, a cut character, an overlong one, a surrogate, one beyond Unicode.
  for (const char* bad : {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(IsUtf8(bad));
}

}  // namespace
}  // namespace cvae
