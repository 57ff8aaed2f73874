// Many clients at a server over the CPU engine, with random operations, sizes, deadlines, cancellations and connections
// cut amid calls: every answer has the reference's bits, every call ends, and nothing is left behind. The seed fixes
// what is asked; threads decide the rest.

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "cvae/v1/cvae.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel_posix.h"
#include "grpcpp/grpcpp.h"
#include "kernels/cpu/engine.h"
#include "server/server.h"
#include "tests/kernels/models.h"
#include "tests/server/known_rows.h"

namespace cvae {
namespace {

using std::chrono::microseconds;
using Random = std::mt19937;
using Stub = v1::CvaeService::Stub;

constexpr int kRows = 300;
constexpr char kFault[] = "the device fell off the bus";

enum class Fate { kDeadline, kCancelled, kNone };

int Below(Random& random, int n) { return static_cast<int>(random() % n); }

// The CPU engine with runs that take a little longer, so that calls gather, and that fail from some run on.
class SlowEngine : public Engine {
 public:
  SlowEngine(std::unique_ptr<Engine> engine, int good_runs) : engine_(std::move(engine)), good_runs_(good_runs) {}
  std::shared_ptr<const Model> shared_model() const override { return engine_->shared_model(); }
  EngineInfo Describe() const override { return engine_->Describe(); }
  absl::StatusOr<std::unique_ptr<Session>> NewSession(int max_rows) override {
    auto session = engine_->NewSession(max_rows);
    if (!session.ok()) return session.status();
    return std::make_unique<SlowSession>(*std::move(session), &good_runs_);
  }

 private:
  class SlowSession : public Session {
   public:
    SlowSession(std::unique_ptr<Session> session, std::atomic<int>* good_runs)
        : session_(std::move(session)), good_runs_(good_runs) {}
    absl::Span<std::byte> staging() override { return session_->staging(); }
    absl::Status Run(absl::Span<const RowSpan> spans) override {
      std::this_thread::sleep_for(microseconds(500));
      if (good_runs_->fetch_sub(1) <= 0) return absl::InternalError(kFault);
      return session_->Run(spans);
    }

   private:
    const std::unique_ptr<Session> session_;
    std::atomic<int>* const good_runs_;
  };

  const std::unique_ptr<Engine> engine_;
  std::atomic<int> good_runs_;
};

// A channel over a socket that can be cut as if its client were gone.
class Connection {
 public:
  explicit Connection(const std::string& address) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    int port = 0;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
    to.sin_port = htons(static_cast<uint16_t>(port));
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    stub_ = v1::CvaeService::NewStub(grpc::CreateInsecureChannelFromFd("server", dup(socket_)));
  }
  ~Connection() { close(socket_); }

  bool connected() const { return connected_; }
  Stub& stub() { return *stub_; }
  void Cut() {
    cut_ = true;
    shutdown(socket_, SHUT_RDWR);
  }
  bool cut() const { return cut_; }

 private:
  const int socket_;
  bool connected_ = false;
  std::atomic<bool> cut_{false};
  std::unique_ptr<Stub> stub_;
};

class StressTest : public testing::Test {
 protected:
  void Start(int good_runs) {
    auto engine = NewCpuEngine(model_, {.threads = 2});
    ASSERT_TRUE(engine.ok()) << engine.status();
    ServerOptions options;
    options.listen = {"127.0.0.1:0"};
    options.model.limits.rows = kRows * KnownRows::kSamples;
    options.model.batcher.scheduler.max_batch_rows = 50;
    options.model.batcher.scheduler.max_queue_rows = 2 * kRows * KnownRows::kSamples;
    std::vector<ModelToServe> models(1);
    models[0] = {"m", std::make_unique<SlowEngine>(*std::move(engine), good_runs)};
    auto server = Server::Start(std::move(models), options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    served_ = std::async(std::launch::async, [this] { return server_->ServeUntilStopped(); });
  }

  // One call with a fate of its own.
  template <class Request, class Response>
  void Call(Connection& connection, Random random,
            grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*)) {
    Stretch stretch;
    stretch.count = 1 + (Below(random, 5) == 0 ? Below(random, kRows) : Below(random, 8));
    stretch.first = Below(random, kRows - stretch.count + 1);
    Request request;
    known_.Ask(stretch, &request);
    grpc::ClientContext context;
    context.AddMetadata("cvae-priority", Below(random, 2) == 0 ? "high" : "low");
    const Fate fate = static_cast<Fate>(std::min(Below(random, 4), 2));
    std::thread canceller;
    if (fate == Fate::kDeadline) {
      context.set_deadline(std::chrono::system_clock::now() + microseconds(100 + Below(random, 15'000)));
    } else if (fate == Fate::kCancelled) {
      canceller = std::thread([&context, after = Below(random, 5'000)] {
        std::this_thread::sleep_for(microseconds(after));
        context.TryCancel();
      });
    }
    Response response;
    const grpc::Status status = (connection.stub().*method)(&context, request, &response);
    if (canceller.joinable()) canceller.join();
    ++calls_of_code_[status.error_code()];
    if (status.ok()) {
      EXPECT_TRUE(known_.Matches(stretch, response)) << "other bits than the reference's";
    } else {
      EXPECT_TRUE(MayEnd(status, fate, connection)) << status.error_code() << ": " << status.error_message();
    }
  }

  bool MayEnd(const grpc::Status& error, Fate fate, const Connection& connection) const {
    switch (error.error_code()) {
      case grpc::StatusCode::RESOURCE_EXHAUSTED:
        return true;
      case grpc::StatusCode::DEADLINE_EXCEEDED:
        return fate == Fate::kDeadline;
      case grpc::StatusCode::CANCELLED:  // gRPC itself says so of calls that reach it while it closes connections
        return fate == Fate::kCancelled || connection.cut() || ending_;
      case grpc::StatusCode::UNAVAILABLE:
        return connection.cut() || ending_;
      case grpc::StatusCode::INTERNAL:
        return error.error_message() == kFault;
      default:
        return false;
    }
  }

  void CallAny(Connection& connection, Random random) {
    switch (Below(random, 5)) {
      case 0:
        return Call(connection, random, &Stub::Encode);
      case 1:
        return Call(connection, random, &Stub::Reconstruct);
      case 2:
        return Call(connection, random, &Stub::Loss);
      case 3:
        return Call(connection, random, &Stub::Decode);
      default:
        return Call(connection, random, &Stub::Generate);
    }
  }

  // Some calls at once on a connection of its own, which may be cut meanwhile.
  void CallSome(Random random) {
    Connection connection(server_->addresses()[0]);
    if (!connection.connected()) return;  // the server has ended
    std::vector<std::thread> calls;
    for (int i = 0; i < 8; ++i) {
      calls.emplace_back([this, &connection, seed = random()] { CallAny(connection, Random(seed)); });
    }
    if (Below(random, 4) == 0) {
      std::this_thread::sleep_for(microseconds(Below(random, 5'000)));
      connection.Cut();
    }
    for (std::thread& call : calls) call.join();
  }

  // Clients that come and go. `amid` runs when half of them are gone.
  void RunClients(uint32_t seed, int sessions, const std::function<void()>& amid) {
    std::vector<std::thread> clients;
    std::atomic<int> done{0};
    for (uint32_t i = 0; i < 4; ++i) {
      clients.emplace_back([this, seed, i, sessions, &done, &amid] {
        Random random(seed + i);
        for (int session = 0; session < sessions; ++session) {
          CallSome(Random(random()));
          if (++done == 2 * sessions) amid();
        }
      });
    }
    for (std::thread& client : clients) client.join();
  }

  // Every job that was admitted was answered or given up, and nothing is left.
  void ExpectNothingLost() {
    const Counts counts = server_->counts();
    uint64_t answered = 0;
    for (const MethodCounts& method : counts.methods) answered += method.calls_of_code[0];
    const QueueCounts& queue = counts.models[0].queue;
    EXPECT_EQ(queue.admitted, answered + queue.expired + queue.queued_too_long + queue.cancelled + queue.failed);
    EXPECT_EQ(counts.in_flight, 0u);
    EXPECT_EQ(counts.unread_bytes, 0u);
    EXPECT_EQ(queue.jobs, 0u);
    EXPECT_EQ(queue.rows, 0u);
    EXPECT_EQ(queue.bytes, 0u);
    for (const std::string& line : Describe(counts)) std::printf("%s\n", line.c_str());
  }

  const std::shared_ptr<const Model> model_ =
      std::make_shared<const Model>(RandomModel({"stress", 19, {{3, true}}, {13}, 5, {11}}));
  const KnownRows known_{model_, kRows};
  std::unique_ptr<Server> server_;
  std::future<absl::Status> served_;
  std::atomic<bool> ending_{false};
  std::atomic<int> calls_of_code_[17] = {};
};

TEST_F(StressTest, EveryAnswerIsRightAndNothingIsLostInADrain) {
  Start(1 << 30);
  RunClients(1, 10, [] {});
  EXPECT_GT(calls_of_code_[grpc::StatusCode::OK], 50);
  RunClients(2, 4, [this] {
    ending_ = true;
    server_->RequestStop();
  });
  EXPECT_TRUE(served_.get().ok());
  ExpectNothingLost();
}

TEST_F(StressTest, ADeviceFaultLosesNothingEither) {
  ending_ = true;
  Start(40);
  RunClients(3, 10, [] {});
  EXPECT_EQ(served_.get().code(), absl::StatusCode::kInternal);
  ExpectNothingLost();
}

}  // namespace
}  // namespace cvae
