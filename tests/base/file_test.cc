#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Temporary(const std::string& name) {
  return testing::TempDir() + "/file_test" + std::to_string(getpid()) + "." + name;
}

TEST(ReadFileTest, ReadsEveryByte) {
  const std::string path = Temporary("bytes"), bytes("\0a\n\xff", 4);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(*ReadFile(path), bytes);
  std::ofstream(path, std::ios::trunc).close();
  EXPECT_EQ(*ReadFile(path), "");
}

TEST(ReadFileTest, SaysWhyItCannot) {
  const absl::Status missing = ReadFile("/nowhere/at/all").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), StartsWith("/nowhere/at/all: "));

  const absl::Status directory = ReadFile(testing::TempDir()).status();
  EXPECT_EQ(directory.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(directory.message()), HasSubstr("is a directory"));

  const absl::Status device = ReadFile("/dev/zero").status();
  EXPECT_EQ(device.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(device.message()), HasSubstr("not a regular file"));
}

TEST(ReadFileTest, APipeWithoutAWriterDoesNotBlock) {
  const std::string path = Temporary("pipe");
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(path).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ReadFileTest, AFileWithoutPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string path = Temporary("secret");
  std::ofstream(path) << "x";
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  EXPECT_EQ(ReadFile(path).status().code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace cvae
