// Calls: messages of any size, details of errors, retries only where the server asks for them, deadlines.

#include "client/client.h"

#include <algorithm>
#include <future>
#include <thread>

#include "client/matrix.h"
#include "client/status_details.h"
#include "gtest/gtest.h"
#include "tests/client/fake_service.h"

namespace cvae {
namespace {

v1::EncodeRequest Rows(uint32_t rows, float value = 0.5f) {
  v1::EncodeRequest request;
  *request.mutable_x() = MakeMatrix(rows, kD, std::vector<float>(size_t(rows) * kD, value));
  for (uint32_t i = 0; i < rows; ++i) request.add_labels(i % kL);
  return request;
}

// An asynchronous Encode, waited for.
absl::StatusOr<v1::EncodeResponse> EncodeAsync(const Client& client, v1::EncodeRequest request,
                                               CallOptions options = {}) {
  std::promise<absl::StatusOr<v1::EncodeResponse>> promise;
  client.EncodeAsync(
      std::move(request), [&promise](auto response) { promise.set_value(std::move(response)); }, options);
  return promise.get_future().get();
}

TEST(ClientTest, BlockingAndAsynchronousCallsAnswerAlike) {
  FakeService service;
  const Client client(service.target());
  const auto blocking = client.Encode(Rows(5));
  const auto asynchronous = EncodeAsync(client, Rows(5));
  ASSERT_TRUE(blocking.ok()) << blocking.status();
  ASSERT_TRUE(asynchronous.ok()) << asynchronous.status();
  EXPECT_EQ(blocking->mu().rows(), 5u);
  EXPECT_EQ(blocking->SerializeAsString(), asynchronous->SerializeAsString());
}

TEST(ClientTest, AsksForDataUnlessToldOtherwise) {
  FakeService service;
  const Client client(service.target());
  EXPECT_EQ(client.Encode(Rows(2))->mu().data().size(), 2 * kZ * sizeof(float));
  v1::EncodeRequest request = Rows(2);
  request.set_encoding(v1::Matrix::VALUES);
  const auto response = client.Encode(request);
  EXPECT_EQ(response->mu().values_size(), static_cast<int>(2 * kZ));
  EXPECT_EQ(MatrixValues(response->mu()), MatrixValues(client.Encode(Rows(2))->mu()));
}

TEST(ClientTest, MessagesFarOverFourMebibytes) {
  FakeService service;
  const Client client(service.target());
  constexpr uint32_t kRows = 20 * 1024 * 1024 / (kD * sizeof(float));
  v1::DecodeRequest request;
  *request.mutable_z() = MakeMatrix(kRows, kZ, std::vector<float>(size_t(kRows) * kZ, 1));
  const auto response = client.Decode(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->x_hat().data().size(), 20u << 20);
  const auto encoded = client.Encode(Rows(kRows));  // and the other way
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  EXPECT_EQ(encoded->mu().rows(), kRows);
}

TEST(ClientTest, ErrorsCarryTheServersWordsAndDetails) {
  FakeService service;
  service.Refuse(Refusal(grpc::StatusCode::INVALID_ARGUMENT, "x.cols: got 255", -1, "x.cols"), 1);
  const absl::Status status = Client(service.target()).Encode(Rows(1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "x.cols: got 255");
  EXPECT_FALSE(RetryDelay(status).has_value());
  const auto violations = FieldViolations(status);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "x.cols");
  EXPECT_EQ(violations[0].description, "wrong");
}

TEST(ClientTest, DetailsThatAreNoneAreIgnored) {
  const absl::Status status = FromGrpc(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", "\xff\xff garbage"));
  EXPECT_EQ(status.message(), "full");
  EXPECT_FALSE(RetryDelay(status).has_value());
  EXPECT_TRUE(FieldViolations(status).empty());
  EXPECT_EQ(FromGrpc(grpc::Status(grpc::StatusCode::CANCELLED, "")).message(), "CANCELLED");
}

TEST(ClientTest, RetriesWhereTheServerAsksForIt) {
  FakeService service;
  const Client client(service.target());
  service.Refuse(Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", 1), 2);
  EXPECT_TRUE(client.Encode(Rows(1)).ok());
  EXPECT_EQ(service.attempts(), 3);
  service.Refuse(Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", 0), 2);
  EXPECT_TRUE(EncodeAsync(client, Rows(1)).ok());
  EXPECT_EQ(service.attempts(), 6);
}

TEST(ClientTest, NeverRetriesOtherwise) {
  FakeService service;
  const Client client(service.target());
  int expected = 0;
  for (const auto code : {grpc::StatusCode::RESOURCE_EXHAUSTED, grpc::StatusCode::UNAVAILABLE,
                          grpc::StatusCode::INTERNAL, grpc::StatusCode::INVALID_ARGUMENT}) {
    service.Refuse(Refusal(code, "no", -1), 1);
    EXPECT_EQ(client.Encode(Rows(1)).status().code(), static_cast<absl::StatusCode>(code));
    EXPECT_EQ(service.attempts(), ++expected);
    service.Refuse(grpc::Status(code, "no"), 1);
    EXPECT_EQ(EncodeAsync(client, Rows(1)).status().code(), static_cast<absl::StatusCode>(code));
    EXPECT_EQ(service.attempts(), ++expected);
  }
}

TEST(ClientTest, ARetryPastTheDeadlineIsNotMade) {
  FakeService service;
  const Client client(service.target());
  for (const bool async : {false, true}) {
    service.Refuse(Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", 900), 1);
    const CallOptions options = {.timeout = absl::Milliseconds(800)};
    const auto response = async ? EncodeAsync(client, Rows(1), options) : client.Encode(Rows(1), options);
    EXPECT_EQ(response.status().code(), absl::StatusCode::kResourceExhausted);  // not DEADLINE_EXCEEDED
    EXPECT_EQ(RetryDelay(response.status()), absl::Milliseconds(900));
  }
  EXPECT_EQ(service.attempts(), 2);
}

TEST(ClientTest, DeadlineEndsACallThatHangs) {
  FakeService service;
  service.Hang();
  const Client client(service.target(), {.timeout = absl::Milliseconds(50)});
  EXPECT_EQ(client.Encode(Rows(1)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(EncodeAsync(client, Rows(1)).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ClientTest, NoTimeoutAtAll) {
  FakeService service;
  EXPECT_TRUE(Client(service.target(), {.timeout = absl::InfiniteDuration()}).Encode(Rows(1)).ok());
}

TEST(ClientTest, NoServer) {
  const Client client("unix:/tmp/cvae-no-such-socket");
  EXPECT_EQ(client.Encode(Rows(1)).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(EncodeAsync(client, Rows(1)).status().code(), absl::StatusCode::kUnavailable);
}

TEST(ClientTest, DestroyingAClientEndsItsAsynchronousCalls) {
  FakeService service;
  service.Refuse(Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", 900), 2);
  service.Hang();
  std::vector<absl::Status> ended(6);
  {
    const Client client(service.target());
    for (absl::Status& status : ended) {
      client.EncodeAsync(Rows(3), [&status](auto response) { status = response.status(); });
    }
    while (service.attempts() < 6) std::this_thread::yield();  // two wait for a retry, four for their answer
  }
  for (const absl::Status& status : ended) EXPECT_FALSE(status.ok());
  EXPECT_EQ(std::count_if(ended.begin(), ended.end(), [](const auto& status) { return absl::IsCancelled(status); }), 6);
}

TEST(ClientTest, ACallbackMayStartAnotherCall) {
  FakeService service;
  const Client client(service.target());
  std::promise<absl::StatusOr<v1::EncodeResponse>> promise;
  client.EncodeAsync(Rows(1), [&](auto) {
    client.EncodeAsync(Rows(2), [&promise](auto response) { promise.set_value(std::move(response)); });
  });
  EXPECT_EQ(promise.get_future().get()->mu().rows(), 2u);
}

TEST(ClientTest, ManyClientsComeAndGo) {
  FakeService service;
  service.Refuse(Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", 0), 20);
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(EncodeAsync(Client(service.target()), Rows(1)).ok());
}

TEST(ClientTest, ManyThreadsShareOne) {
  FakeService service;
  const Client client(service.target());
  std::vector<std::thread> threads;
  std::vector<int> answered(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) answered[t] += client.Encode(Rows(t + 1))->mu().rows() == uint32_t(t + 1);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(answered, std::vector<int>(4, 20));
}

}  // namespace
}  // namespace cvae
