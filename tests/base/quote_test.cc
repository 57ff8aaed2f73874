#include "base/quote.h"

#include <string>

#include "gtest/gtest.h"

namespace cvae {
namespace {

TEST(QuoteTest, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Quote("enc.0"), "\"enc.0\"");
  EXPECT_EQ(Quote("a\"b\\c\n\x1b[31m"), "\"a\\\"b\\\\c\\n\\033[31m\"");
  EXPECT_EQ(Quote("\xc3\xa9"), "\"\\303\\251\"");
  EXPECT_EQ(Quote(std::string_view("\0x", 2)), "\"\\000x\"");
}

TEST(QuoteTest, CutsLongText) {
  EXPECT_EQ(Quote("abcdef", 6), "\"abcdef\"");
  EXPECT_EQ(Quote("abcdefg", 6), "\"abcdef...\" (7 bytes)");
  EXPECT_LT(Quote(std::string(100'000, '\1')).size(), 400u);
}

}  // namespace
}  // namespace cvae
