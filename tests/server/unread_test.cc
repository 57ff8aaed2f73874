#include "server/unread.h"

#include "gtest/gtest.h"

namespace cvae {
namespace {

constexpr int kConnections[3] = {};

TEST(UnreadAnswers, AConnectionThatDoesNotReadGetsNothingMoreIn) {
  const Connection slow = &kConnections[0], other = &kConnections[1];
  UnreadAnswers unread({.connection_bytes = 100, .total_bytes = 1000});
  unread.Add(slow, 99);
  EXPECT_TRUE(unread.Admit(slow).ok());
  unread.Add(slow, 1);
  EXPECT_EQ(unread.Admit(slow).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(unread.Admit(other).ok());
  unread.Remove(slow, 100);
  EXPECT_TRUE(unread.Admit(slow).ok());
  EXPECT_EQ(unread.total_bytes(), 0u);
}

TEST(UnreadAnswers, BeyondTheTotalOnlyThoseWhoReadAreLetIn) {
  const Connection a = &kConnections[0], b = &kConnections[1], reader = &kConnections[2];
  UnreadAnswers unread({.connection_bytes = 100, .total_bytes = 150});
  unread.Add(a, 90);
  unread.Add(b, 60);
  EXPECT_FALSE(unread.Admit(a).ok());
  EXPECT_FALSE(unread.Admit(b).ok());
  EXPECT_TRUE(unread.Admit(reader).ok());
  unread.Remove(b, 60);
  EXPECT_TRUE(unread.Admit(a).ok());
}

}  // namespace
}  // namespace cvae
