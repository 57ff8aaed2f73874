#include "server/errors.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace cvae {
namespace {

size_t EncodedSize(const std::string& message) {
  size_t size = 0;
  for (const char c : message) size += c >= ' ' && c <= '~' && c != '%' ? 1 : 3;
  return size;
}

TEST(Errors, AFieldErrorCarriesItsField) {
  const grpc::Status status = ToGrpcStatus(FieldError("x.cols", "got 255"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "x.cols: got 255");
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), 3);
  google::rpc::BadRequest bad;
  ASSERT_TRUE(details.details(0).UnpackTo(&bad));
  EXPECT_EQ(bad.field_violations(0).field(), "x.cols");
  EXPECT_EQ(bad.field_violations(0).description(), "got 255");
}

TEST(Errors, ARetryCarriesItsDelay) {
  const grpc::Status status = ToGrpcStatus(RetryLater("full", absl::Milliseconds(1250)));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(0).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 250'000'000);
}

TEST(Errors, WhatNeedsNoDetailsHasNone) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_EQ(ToGrpcStatus(absl::NotFoundError("model")).error_details(), "");
}

// Clients take 8 KiB of metadata: whatever a message holds, what is sent stays within 1 KiB and 3 KiB.
TEST(Errors, LongMessagesAreCut) {
  for (const std::string& unit : {std::string("a"), std::string("%"), std::string("\n"), std::string("\xc3\xa9"),
                                  std::string("\xe2\x82\xac"), std::string("\xf0\x9f\x98\x80")}) {
    for (const size_t size : {100u, 341u, 342u, 1023u, 1024u, 1025u, 100'000u}) {
      std::string text;
      while (text.size() < size) text += unit;
      const grpc::Status status = ToGrpcStatus(FieldError("f", text));
      EXPECT_LE(EncodedSize(status.error_message()), 1024u);
      EXPECT_LE(status.error_details().size(), 3072u);
      google::rpc::Status details;  // and is valid UTF-8 still, or it would not parse
      EXPECT_TRUE(details.ParseFromString(status.error_details())) << unit << " " << size;
    }
  }
}

TEST(Errors, ListsAreCutWithWhatIsMissing) {
  std::vector<std::string> items;
  for (int i = 0; i < 1003; ++i) items.push_back(absl::StrCat("c", i));
  EXPECT_EQ(QuotedList(items, 2), "\"c0\", \"c1\" and 1001 more");
  EXPECT_EQ(QuotedList({"a"}), "\"a\"");
  EXPECT_EQ(QuotedList({}), "");
}

}  // namespace
}  // namespace cvae
