#include "server/listen.h"

#include <unistd.h>

#include <string>

#include "gmock/gmock.h"

namespace cvae {
namespace {

TEST(Listen, KnowsItsForms) {
  for (const char* good : {"127.0.0.1:8001", "[::1]:8001", "localhost:0", "0.0.0.0:65535"}) {
    EXPECT_TRUE(ParseListenAddress(good).ok()) << good;
  }
  EXPECT_EQ(ParseListenAddress("unix:/tmp/s")->unix_path, "/tmp/s");
  for (const char* bad :
       {"", "8001", ":8001", "host", "host:", "host:port", "host:65536", "host:-1", "::1:8001", "unix:"}) {
    const auto parsed = ParseListenAddress(bad);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(parsed.status().message()), testing::HasSubstr("--listen")) << bad;
  }
  EXPECT_FALSE(ParseListenAddress("unix:" + std::string(108, 'a')).ok());
}

TEST(Listen, AUnixPathIsClaimedOnce) {
  const std::string path = testing::TempDir() + "claim_" + std::to_string(getpid());
  auto first = UnixPathClaim::Take(path);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(UnixPathClaim::Take(path).status().code(), absl::StatusCode::kFailedPrecondition);
  first->reset();
  EXPECT_TRUE(UnixPathClaim::Take(path).ok());
  EXPECT_FALSE(UnixPathClaim::Take("/no/such/folder/s").ok());
  unlink((path + ".lock").c_str());
}

}  // namespace
}  // namespace cvae
