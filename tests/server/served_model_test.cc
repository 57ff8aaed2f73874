// Queue and lanes over an engine on strings: what is launched, what is not, and that every job is finished once.

#include "server/served_model.h"

#include <deque>
#include <future>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/server/puppet_engine.h"

namespace cvae {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using Batch = Puppet::Batch;

// Decodes `job_rows` rows; told by its seed.
class DecodeJob : public Job {
 public:
  DecodeJob(uint64_t job_seed, uint64_t job_rows) {
    pass = Pass::kDecode;
    noise = Noise::kSeed;
    seed = job_seed;
    rows = job_rows;
    bytes = 1;
    decode_condition.emplace_back().ids.assign(rows, 0);
    finish = [this](absl::Status status) { finished_.set_value(std::move(status)); };  // twice would throw
  }

  // Blocks until it is finished.
  absl::Status Finished() { return finished_.get_future().get(); }

  std::function<void()> on_gather = [] {};

 private:
  void Allocate(RowSpan*) override { on_gather(); }

  std::promise<absl::Status> finished_;
};

class ServedModelTest : public testing::Test {
 protected:
  ServedModelTest() {
    options_.lanes = 1;
    options_.on_fault = [this](const absl::Status&) { model_->FailQueue(absl::UnavailableError("broken")); };
  }
  ~ServedModelTest() override { puppet_.LetGo(absl::OkStatus()); }

  ServedModel& model() {
    if (model_ == nullptr) {
      auto started = ServedModel::Start("m", std::make_unique<PuppetEngine>(&puppet_), options_);
      EXPECT_TRUE(started.ok()) << started.status();
      model_ = *std::move(started);
      puppet_.Hold();
    }
    return *model_;
  }

  DecodeJob& Send(uint64_t seed, uint64_t rows = 1, Job::TimePoint deadline = Job::TimePoint::max()) {
    DecodeJob& job = jobs_.emplace_back(seed, rows);
    job.deadline = deadline;
    EXPECT_TRUE(model().Submit(&job).ok());
    return job;
  }

  // Sends a job and waits until it runs: the only lane is busy.
  DecodeJob& Occupy() {
    DecodeJob& job = Send(0);
    puppet_.AwaitRunning(1);
    return job;
  }

  Puppet puppet_;
  ServedModel::Options options_;
  std::deque<DecodeJob> jobs_;
  std::unique_ptr<ServedModel> model_;  // ends before the jobs that it may still have
};

TEST_F(ServedModelTest, WhatGathersWhileABatchRunsLeavesAsOne) {
  Occupy();
  Batch rest;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Send(seed);
    rest.push_back({seed, 1});
  }
  puppet_.LetGo(absl::OkStatus());
  for (DecodeJob& job : jobs_) EXPECT_TRUE(job.Finished().ok());
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{0, 1}}, rest));
  model().Stop();
  EXPECT_EQ(model().counts().batch_rows.count, 2u);
  EXPECT_EQ(model().counts().queue_us.count, 21u);
}

TEST_F(ServedModelTest, ALargeJobRunsOnSeveralLanesAtOnceAndIsFinishedOnce) {
  options_.lanes = 2;
  options_.batcher.scheduler.max_batch_rows = 10;
  DecodeJob& job = Send(7, 25);
  puppet_.AwaitRunning(2);
  puppet_.LetGo(absl::OkStatus());
  EXPECT_TRUE(job.Finished().ok());
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{7, 10}}, Batch{{7, 10}}, Batch{{7, 5}}));
}

TEST_F(ServedModelTest, ExpiredCallsAreLetGoWithinMillisecondsThoughEveryLaneIsBusy) {
  Occupy();
  for (int i = 1; i <= 21; ++i) Send(i, 1, std::chrono::steady_clock::now() + milliseconds(20 + i));
  for (int i = 1; i <= 21; ++i) EXPECT_EQ(jobs_[i].Finished().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{0, 1}}));  // which runs still
  const QueueCounts counts = model().counts();
  EXPECT_EQ(counts.expired, 21u);
  EXPECT_EQ(counts.jobs, 0u);
  EXPECT_EQ(counts.bytes, 0u);
  EXPECT_LE(counts.overstay_us.Quantile(0.5), 5000u);
}

TEST_F(ServedModelTest, ACancelledCallLeavesTheQueueAtOnce) {
  DecodeJob& running = Occupy();
  DecodeJob& waiting = Send(1, 100);
  model().Cancel(&waiting);
  EXPECT_EQ(waiting.Finished().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(model().counts().rows, 0u);
  model().Cancel(&running);  // too late: it runs
  puppet_.LetGo(absl::OkStatus());
  EXPECT_TRUE(running.Finished().ok());
  EXPECT_EQ(model().counts().cancelled, 1u);
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{0, 1}}));
}

TEST_F(ServedModelTest, ACallCancelledWhileItIsGatheredIsNotLaunched) {
  Occupy();
  DecodeJob& cancelled = Send(1);
  cancelled.on_gather = [&cancelled] { cancelled.Cancel(); };
  DecodeJob& other = Send(2);
  puppet_.LetGo(absl::OkStatus());
  EXPECT_EQ(cancelled.Finished().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(other.Finished().ok());
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{0, 1}}, Batch{{2, 1}}));
  EXPECT_EQ(model().counts().cancelled, 1u);
}

TEST_F(ServedModelTest, ACallThatExpiresWhileItIsGatheredIsNotLaunched) {
  Occupy();
  const Job::TimePoint deadline = std::chrono::steady_clock::now() + milliseconds(50);
  DecodeJob& expired = Send(1, 1, deadline);
  expired.on_gather = [deadline] {
    while (std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  };
  puppet_.LetGo(absl::OkStatus());
  EXPECT_EQ(expired.Finished().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{0, 1}}));
  EXPECT_EQ(model().counts().expired, 1u);
}

TEST_F(ServedModelTest, ABadValueEndsItsJobAndNobodyElses) {
  options_.batcher.scheduler.max_batch_rows = 10;
  model();
  const int cols = model().facts().model->latent_width;
  std::vector<float> z(30 * cols, 1.0f);
  z[2 * cols] = std::numeric_limits<float>::quiet_NaN();
  DecodeJob bad(1, 30);
  bad.noise = Noise::kEps;
  bad.eps = {"z", reinterpret_cast<const char*>(z.data()), 30, static_cast<uint32_t>(cols)};
  Occupy();
  EXPECT_TRUE(model().Submit(&bad).ok());
  DecodeJob& other = Send(2);
  puppet_.LetGo(absl::OkStatus());
  EXPECT_EQ(bad.Finished().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(other.Finished().ok());
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{0, 1}}, Batch{{2, 1}}));
  EXPECT_EQ(model().counts().failed, 1u);
}

TEST_F(ServedModelTest, AFaultFailsWhatRunsAndWhatWaitsOnceAndTakesNothingMore) {
  options_.batcher.scheduler.max_batch_rows = 10;
  DecodeJob& running = Send(1, 15);
  puppet_.AwaitRunning(1);
  DecodeJob& waiting = Send(2, 5);
  puppet_.LetGo(absl::InternalError("the device fell off the bus"));
  EXPECT_EQ(waiting.Finished(), absl::UnavailableError("broken"));
  EXPECT_FALSE(running.Finished().ok());
  DecodeJob late(3, 1);
  EXPECT_EQ(model().Submit(&late), absl::UnavailableError("broken"));
  EXPECT_THAT(puppet_.batches(), ElementsAre(Batch{{1, 10}}));
}

TEST_F(ServedModelTest, StopFinishesWhatWasAccepted) {
  Occupy();
  Send(1);
  std::future<void> stopped = std::async(std::launch::async, [this] { model().Stop(); });
  puppet_.LetGo(absl::OkStatus());
  stopped.get();
  for (DecodeJob& job : jobs_) EXPECT_TRUE(job.Finished().ok());
}

}  // namespace
}  // namespace cvae
