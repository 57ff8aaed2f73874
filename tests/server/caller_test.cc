#include "server/caller.h"

#include "gtest/gtest.h"

namespace cvae {
namespace {

TEST(PeerHost, IsWithoutThePort) {
  EXPECT_EQ(PeerHost("ipv4:127.0.0.1:4242"), "ipv4:127.0.0.1");
  EXPECT_EQ(PeerHost("ipv6:%5B::1%5D:4242"), "ipv6:%5B::1%5D");
  EXPECT_EQ(PeerHost("ipv6:[2001:db8::7]:1"), "ipv6:[2001:db8::7]");
  EXPECT_EQ(PeerHost("unix:/tmp/a:b"), "");
  EXPECT_EQ(PeerHost(""), "");
}

}  // namespace
}  // namespace cvae
