#include "server/listen.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"

namespace cvae {
namespace {

using testing::HasSubstr;

class UnixPath : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove_all(path_);
    std::filesystem::remove(path_ + ".lock");
  }

  // A socket that listens on the path; closed, it is what a server leaves behind that was killed.
  int Listen() const {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
  }

  std::string Refusal() const { return std::string(UnixPathClaim::Take(path_).status().message()); }

  const std::string path_ = testing::TempDir() + "claim_" + std::to_string(getpid());
};

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

TEST(Listen, AnAddressIsWrittenAsGrpcReadsIt) {
  EXPECT_EQ(GrpcAddress({"unix:/tmp/100%41", "/tmp/100%41"}), "unix:/tmp/100%2541");
  EXPECT_EQ(GrpcAddress({"127.0.0.1:8001", ""}), "127.0.0.1:8001");
}

TEST_F(UnixPath, IsClaimedOnce) {
  auto first = UnixPathClaim::Take(path_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(UnixPathClaim::Take(path_).status().code(), absl::StatusCode::kFailedPrecondition);
  first->reset();
  EXPECT_TRUE(UnixPathClaim::Take(path_).ok());
  EXPECT_FALSE(UnixPathClaim::Take("/no/such/folder/s").ok());
}

TEST_F(UnixPath, OfAServerThatWasKilledIsClaimedAgain) {
  close(Listen());
  EXPECT_TRUE(UnixPathClaim::Take(path_).ok());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixPath, ThatAnotherProgramListensOnIsLeftToIt) {
  const int fd = Listen();
  EXPECT_THAT(Refusal(), HasSubstr("another program listens"));
  EXPECT_TRUE(std::filesystem::exists(path_));
  close(fd);
}

TEST_F(UnixPath, OfSomethingThatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT(Refusal(), HasSubstr("no socket"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(Refusal(), HasSubstr("no socket"));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/null", path_);
  EXPECT_THAT(Refusal(), HasSubstr("no socket"));
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

}  // namespace
}  // namespace cvae
