// The batcher's threads: what the scheduler decides reaches lanes and callers, once. scheduler_test.cc has what it
// decides.

#include "server/batcher.h"

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/server/test_job.h"

namespace cvae {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class BatcherTest : public testing::Test {
 protected:
  BatcherTest() {
    options_.scheduler.max_batch_rows = 8;
    options_.scheduler.max_queue_rows = 80;
    options_.now = [this] { return now_; };
  }

  Batcher& batcher() {
    if (batcher_ == nullptr) batcher_ = std::make_unique<Batcher>(options_);
    return *batcher_;
  }

  // Pulls a batch, settles it, and says what was in it: "1:3+5" is rows 3 to 7 of jobs[1].
  std::vector<std::string> RunOne(const std::vector<TestJob*>& jobs) {
    std::vector<std::string> batch;
    for (const Piece& piece : batcher().Pull()) {
      for (size_t i = 0; i < jobs.size(); ++i) {
        if (jobs[i] == piece.job) {
          batch.push_back(std::to_string(i) + ":" + std::to_string(piece.begin) + "+" + std::to_string(piece.count));
        }
      }
      piece.job->Settle(piece.count, absl::OkStatus());
    }
    return batch;
  }

  Job::TimePoint now_{};
  Batcher::Options options_;
  std::unique_ptr<Batcher> batcher_;
};

TEST_F(BatcherTest, AllThatWaitsLeavesAsOneBatchAndIsFinishedOnce) {
  TestJob a(1), b(2), c(3);
  for (TestJob* job : {&a, &b, &c}) ASSERT_TRUE(batcher().Submit(job).ok());
  EXPECT_EQ(batcher().counts().rows, 6u);
  EXPECT_THAT(RunOne({&a, &b, &c}), ElementsAre("0:0+1", "1:0+2", "2:0+3"));
  for (TestJob* job : {&a, &b, &c}) EXPECT_THAT(job->finished, ElementsAre(absl::OkStatus()));
  EXPECT_EQ(batcher().counts().rows, 0u);
}

TEST_F(BatcherTest, AJobLargerThanABatchGoesInPiecesAndIsFinishedOnce) {
  TestJob small(3), large(17);
  ASSERT_TRUE(batcher().Submit(&small).ok());
  ASSERT_TRUE(batcher().Submit(&large).ok());
  EXPECT_THAT(RunOne({&small, &large}), ElementsAre("0:0+3", "1:0+5"));
  EXPECT_THAT(RunOne({&small, &large}), ElementsAre("1:5+8"));
  EXPECT_THAT(large.finished, IsEmpty());
  EXPECT_THAT(RunOne({&small, &large}), ElementsAre("1:13+4"));
  EXPECT_THAT(large.finished, ElementsAre(absl::OkStatus()));
}

TEST_F(BatcherTest, ARefusedJobStaysTheCallers) {
  TestJob job(81);
  EXPECT_EQ(batcher().Submit(&job).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(job.finished, IsEmpty());
}

TEST_F(BatcherTest, ExpiredJobsAreSettledByALaneAndNeverLaunched) {
  TestJob expired(2), alive(2);
  expired.deadline = now_ + milliseconds(5);
  alive.deadline = now_ + milliseconds(50);
  for (TestJob* job : {&expired, &alive}) ASSERT_TRUE(batcher().Submit(job).ok());
  now_ += milliseconds(5);
  EXPECT_THAT(RunOne({&expired, &alive}), ElementsAre("1:0+2"));
  ASSERT_EQ(expired.finished.size(), 1u);
  EXPECT_EQ(expired.finished[0].code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(BatcherTest, WhatIsWorthLaunchingIsAskedAgain) {
  TestJob job(2);
  job.deadline = now_ + milliseconds(5);
  EXPECT_TRUE(batcher().WorthLaunching(job).ok());
  now_ += milliseconds(5);
  EXPECT_EQ(batcher().WorthLaunching(job).code(), absl::StatusCode::kDeadlineExceeded);
  TestJob cancelled(2);
  cancelled.Cancel();
  EXPECT_EQ(batcher().WorthLaunching(cancelled).code(), absl::StatusCode::kCancelled);
}

TEST_F(BatcherTest, AWithdrawnJobIsFinishedAtOnceAndFreesItsRows) {
  TestJob gone(20), next(1);
  for (TestJob* job : {&gone, &next}) ASSERT_TRUE(batcher().Submit(job).ok());
  batcher().Withdraw(&gone, absl::CancelledError("gone"));
  EXPECT_THAT(gone.finished, ElementsAre(absl::CancelledError("gone")));
  batcher().Withdraw(&gone, absl::CancelledError("again"));
  EXPECT_EQ(gone.finished.size(), 1u);
  EXPECT_EQ(batcher().counts().rows, 1u);
  EXPECT_THAT(RunOne({&gone, &next}), ElementsAre("1:0+1"));
}

TEST_F(BatcherTest, TheRestOfAFailedJobIsFinishedWithTheFirstError) {
  TestJob large(17);
  ASSERT_TRUE(batcher().Submit(&large).ok());
  const std::vector<Piece> first = batcher().Pull();
  ASSERT_EQ(first.size(), 1u);
  batcher().Withdraw(&large, absl::InvalidArgumentError("x: row 3"));
  EXPECT_THAT(large.finished, IsEmpty());  // a piece still runs
  large.Settle(first[0].count, absl::OkStatus());
  EXPECT_THAT(large.finished, ElementsAre(absl::InvalidArgumentError("x: row 3")));
}

TEST_F(BatcherTest, StoppedRefusesAndStillGivesOutWhatItTook) {
  TestJob taken(2), late(1);
  ASSERT_TRUE(batcher().Submit(&taken).ok());
  batcher().Stop();
  EXPECT_EQ(batcher().Submit(&late).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(RunOne({&taken}), ElementsAre("0:0+2"));
  EXPECT_THAT(batcher().Pull(), IsEmpty());
  batcher().Watch();  // returns
}

TEST_F(BatcherTest, FailAllSettlesEveryJobOnceAndRefusesWithTheSameError) {
  TestJob begun(10), waiting(3), late(1);
  ASSERT_TRUE(batcher().Submit(&begun).ok());
  const std::vector<Piece> running = batcher().Pull();
  ASSERT_TRUE(batcher().Submit(&waiting).ok());
  batcher().FailAll(absl::UnavailableError("gone"));
  EXPECT_THAT(waiting.finished, ElementsAre(absl::UnavailableError("gone")));
  EXPECT_THAT(begun.finished, IsEmpty());
  begun.Settle(running[0].count, absl::OkStatus());
  EXPECT_THAT(begun.finished, ElementsAre(absl::UnavailableError("gone")));
  EXPECT_EQ(batcher().counts().jobs, 0u);
  EXPECT_EQ(batcher().Submit(&late), absl::UnavailableError("gone"));
}

// On the real clock, with no lane at all: all of them are busy.
TEST(BatcherWatch, ExpiredJobsAreLetGoWithoutALane) {
  Batcher batcher({});
  std::thread watch([&batcher] { batcher.Watch(); });
  TestJob later(1), sooner(1);
  std::promise<absl::Status> finished[2];
  later.finish = [&](absl::Status status) { finished[0].set_value(std::move(status)); };
  sooner.finish = [&](absl::Status status) { finished[1].set_value(std::move(status)); };
  const Job::TimePoint start = std::chrono::steady_clock::now();
  later.deadline = start + std::chrono::hours(1);
  sooner.deadline = start + milliseconds(30);
  ASSERT_TRUE(batcher.Submit(&later).ok());
  ASSERT_TRUE(batcher.Submit(&sooner).ok());  // the watch, which sleeps for an hour, must hear of it
  EXPECT_EQ(finished[1].get_future().get().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(std::chrono::steady_clock::now(), sooner.deadline);
  batcher.Withdraw(&later, absl::CancelledError(""));
  EXPECT_EQ(finished[0].get_future().get().code(), absl::StatusCode::kCancelled);
  batcher.Stop();
  watch.join();
}

TEST(BatcherLanes, ALaneThatWaitsIsWokenByAJobAndByTheEnd) {
  Batcher batcher({});
  TestJob job(3);
  std::promise<void> finished;
  job.finish = [&](const absl::Status&) { finished.set_value(); };
  std::thread lane([&batcher] {
    for (std::vector<Piece> batch = batcher.Pull(); !batch.empty(); batch = batcher.Pull()) {
      for (const Piece& piece : batch) piece.job->Settle(piece.count, absl::OkStatus());
    }
  });
  ASSERT_TRUE(batcher.Submit(&job).ok());
  finished.get_future().get();
  batcher.Stop();
  lane.join();
}

}  // namespace
}  // namespace cvae
