// A server in this process over a fake engine: what happens at a device fault and in a drain.

#include "server/server.h"

#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "cvae/v1/cvae.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "tests/server/puppet_engine.h"

namespace cvae {
namespace {

using grpc::health::v1::HealthCheckResponse;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.listen = {"127.0.0.1:0"};
    options.model.lanes = 1;
    options.model.batcher.scheduler.max_batch_rows = 1;
    options.client_key_header = "x-client";
    std::vector<ModelToServe> models(1);
    models[0] = {"m", std::make_unique<PuppetEngine>(&puppet_)};
    auto server = Server::Start(std::move(models), options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto channel = grpc::CreateChannel(server_->addresses()[0], grpc::InsecureChannelCredentials());
    stub_ = v1::CvaeService::NewStub(channel);
    health_ = grpc::health::v1::Health::NewStub(channel);
    puppet_.Hold();
  }

  void ServeUntilStopped() {
    served_ = std::async(std::launch::async, [this] { return server_->ServeUntilStopped(); });
  }

  // Asks for one row. `client`: what a proxy says of it.
  std::future<grpc::Status> Generate(uint64_t seed = 1, const std::string& client = "a",
                                     grpc::ClientContext* given = nullptr) {
    return std::async(std::launch::async, [this, seed, client, given] {
      grpc::ClientContext own;
      grpc::ClientContext* context = given == nullptr ? &own : given;
      context->AddMetadata("x-client", client);
      v1::GenerateRequest request;
      request.add_labels(1);
      request.set_seed(seed);
      v1::GenerateResponse response;
      return stub_->Generate(context, request, &response);
    });
  }

  // Until so many calls wait in the queue.
  void AwaitWaiting(uint64_t calls) {
    while (server_->counts().models[0].queue.jobs != calls) std::this_thread::yield();
  }

  HealthCheckResponse::ServingStatus Health() {
    grpc::ClientContext context;
    HealthCheckResponse response;
    const grpc::Status status = health_->Check(&context, {}, &response);
    return status.ok() ? response.status() : HealthCheckResponse::UNKNOWN;
  }

  // Until a call is refused: the server has noticed.
  grpc::Status AwaitRefusal() {
    while (true) {
      grpc::ClientContext context;
      v1::GetModelResponse response;
      const grpc::Status status = stub_->GetModel(&context, {}, &response);
      if (!status.ok()) return status;
      std::this_thread::yield();
    }
  }

  Puppet puppet_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::CvaeService::Stub> stub_;
  std::unique_ptr<grpc::health::v1::Health::Stub> health_;
  std::future<absl::Status> served_;
};

// Whose end comes as soon as there is a reason.
class ServingTest : public ServerTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(ServerTest::SetUp());
    ServeUntilStopped();
  }
};

TEST_F(ServerTest, AfterAFaultAndBeforeTheEndNewCallsAreRefusedAndHealthIsNotServing) {
  std::future<grpc::Status> running = Generate();
  puppet_.AwaitRunning(1);
  puppet_.LetGo(absl::InternalError("the device fell off the bus"));
  EXPECT_EQ(running.get().error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(AwaitRefusal().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Health(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Generate().get().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(puppet_.batches().size(), 1u);
  EXPECT_EQ(server_->counts().in_flight, 0u);
  ServeUntilStopped();
  EXPECT_EQ(served_.get().code(), absl::StatusCode::kInternal);
}

TEST_F(ServingTest, ADrainAnswersWhatItAcceptedAndTakesNothingNew) {
  EXPECT_EQ(Health(), HealthCheckResponse::SERVING);
  std::future<grpc::Status> running = Generate();
  puppet_.AwaitRunning(1);
  server_->RequestStop();
  EXPECT_EQ(AwaitRefusal().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Health(), HealthCheckResponse::NOT_SERVING);
  puppet_.LetGo(absl::OkStatus());
  EXPECT_TRUE(running.get().ok());
  EXPECT_TRUE(served_.get().ok());
}

TEST_F(ServingTest, AFaultFailsWhatRunsRefusesWhatWaitsAndEndsTheServer) {
  std::future<grpc::Status> running = Generate();
  puppet_.AwaitRunning(1);
  std::future<grpc::Status> waiting = Generate();
  puppet_.LetGo(absl::InternalError("the device fell off the bus"));
  const grpc::Status failed = running.get();
  EXPECT_EQ(failed.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(failed.error_message(), "the device fell off the bus");
  // Queued in time or refused at the door, or launched on the broken device: never answered as if nothing were.
  EXPECT_FALSE(waiting.get().ok());
  EXPECT_EQ(served_.get().code(), absl::StatusCode::kInternal);
}

TEST_F(ServingTest, ACallThatItsClientGivesUpLeavesTheQueue) {
  std::future<grpc::Status> running = Generate(1);
  puppet_.AwaitRunning(1);
  grpc::ClientContext context;
  std::future<grpc::Status> given_up = Generate(2, "a", &context);
  AwaitWaiting(1);
  context.TryCancel();
  EXPECT_EQ(given_up.get().error_code(), grpc::StatusCode::CANCELLED);
  AwaitWaiting(0);  // while the only lane is busy
  puppet_.LetGo(absl::OkStatus());
  EXPECT_TRUE(running.get().ok());
  server_->RequestStop();
  EXPECT_TRUE(served_.get().ok());
  EXPECT_EQ(puppet_.batches().size(), 1u);
  EXPECT_EQ(server_->counts().models[0].queue.cancelled, 1u);
  EXPECT_EQ(server_->counts().in_flight, 0u);
}

TEST_F(ServingTest, ClientsThatAProxyTellsApartTakeTurns) {
  std::vector<std::future<grpc::Status>> calls;
  calls.push_back(Generate(0));
  puppet_.AwaitRunning(1);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    calls.push_back(Generate(seed, "a"));
    AwaitWaiting(seed);
  }
  calls.push_back(Generate(4, "b"));
  AwaitWaiting(4);
  puppet_.LetGo(absl::OkStatus());
  for (std::future<grpc::Status>& call : calls) EXPECT_TRUE(call.get().ok());
  using Batch = Puppet::Batch;
  EXPECT_THAT(puppet_.batches(),
              testing::ElementsAre(Batch{{0, 1}}, Batch{{1, 1}}, Batch{{4, 1}}, Batch{{2, 1}}, Batch{{3, 1}}));
  server_->RequestStop();
}

TEST_F(ServingTest, AWatchIsToldOfEveryChange) {
  grpc::ClientContext context;
  auto watch = health_->Watch(&context, {});
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  std::future<grpc::Status> running = Generate();
  puppet_.AwaitRunning(1);
  server_->RequestStop();
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  puppet_.LetGo(absl::OkStatus());
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(running.get().ok());
  EXPECT_TRUE(served_.get().ok());
}

TEST(Server, ATakenPortIsRefusedWithTheAddress) {
  Puppet puppet;
  const auto start = [&puppet](const std::string& address) {
    ServerOptions options;
    options.listen = {address};
    std::vector<ModelToServe> models(1);
    models[0] = {"m", std::make_unique<PuppetEngine>(&puppet)};
    return Server::Start(std::move(models), options);
  };
  auto first = start("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const auto second = start((*first)->addresses()[0]);
  EXPECT_THAT(std::string(second.status().message()), testing::HasSubstr((*first)->addresses()[0]));
}

}  // namespace
}  // namespace cvae
