#include "server/batcher.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"

namespace cvae {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A job of some rows that counts how it was finished.
class TestJob : public Job {
 public:
  explicit TestJob(uint64_t job_rows, uint64_t job_bytes = 1) {
    rows = job_rows;
    bytes = job_bytes;
    finish = [this](absl::Status status) { finished.push_back(std::move(status)); };
  }

  std::vector<absl::Status> finished;

 private:
  void Allocate(RowSpan*) override {}
};

class BatcherTest : public testing::Test {
 protected:
  BatcherTest() {
    options_.max_batch_rows = 8;
    options_.max_queue_rows = 20;
    options_.max_queue_bytes = 100;
    options_.now = [this] { return now_; };
  }

  Batcher& batcher() {
    if (batcher_ == nullptr) batcher_ = std::make_unique<Batcher>(options_);
    return *batcher_;
  }

  // Pulls a batch, settles it, and says what was in it: "job 3+5" is rows 3 to 7 of a job of these.
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

TEST_F(BatcherTest, AllThatWaitsLeavesAsOneBatch) {
  TestJob a(1), b(2), c(3);
  for (TestJob* job : {&a, &b, &c}) ASSERT_TRUE(batcher().Submit(job).ok());
  EXPECT_THAT(RunOne({&a, &b, &c}), ElementsAre("0:0+1", "1:0+2", "2:0+3"));
  for (TestJob* job : {&a, &b, &c}) EXPECT_THAT(job->finished, ElementsAre(absl::OkStatus()));
  EXPECT_EQ(batcher().depth().rows, 0u);
  EXPECT_EQ(batcher().depth().bytes, 0u);
}

TEST_F(BatcherTest, AJobLargerThanABatchGoesInPiecesAndIsFinishedOnce) {
  TestJob small(3), large(17);
  ASSERT_TRUE(batcher().Submit(&small).ok());
  ASSERT_TRUE(batcher().Submit(&large).ok());
  EXPECT_THAT(RunOne({&small, &large}), ElementsAre("0:0+3", "1:0+5"));
  EXPECT_THAT(large.finished, IsEmpty());
  EXPECT_THAT(RunOne({&small, &large}), ElementsAre("1:5+8"));
  EXPECT_THAT(RunOne({&small, &large}), ElementsAre("1:13+4"));
  EXPECT_THAT(large.finished, ElementsAre(absl::OkStatus()));
}

TEST_F(BatcherTest, FullIsRefusedWithAHintAndTheJobStaysTheCallers) {
  TestJob first(12), second(9), third(8), heavy(1, 99);
  ASSERT_TRUE(batcher().Submit(&first).ok());
  const absl::Status full = batcher().Submit(&second);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(full.GetPayload("type.googleapis.com/google.rpc.RetryInfo").has_value());
  EXPECT_THAT(second.finished, IsEmpty());
  ASSERT_TRUE(batcher().Submit(&third).ok());
  RunOne({&first, &third});                                                          // rows free up as they are pulled
  EXPECT_EQ(batcher().Submit(&heavy).code(), absl::StatusCode::kResourceExhausted);  // 2 + 99 bytes
  RunOne({&first, &third});
  RunOne({&first, &third});
  EXPECT_TRUE(batcher().Submit(&heavy).ok());
  EXPECT_THAT(RunOne({&heavy}), ElementsAre("0:0+1"));
}

TEST_F(BatcherTest, ExpiredAndCancelledJobsAreSettledAndNeverLaunched) {
  TestJob expired(2), cancelled(2), alive(2);
  expired.deadline = now_ + std::chrono::milliseconds(5);
  alive.deadline = now_ + std::chrono::milliseconds(50);
  for (TestJob* job : {&expired, &cancelled, &alive}) ASSERT_TRUE(batcher().Submit(job).ok());
  now_ += std::chrono::milliseconds(5);
  cancelled.Cancel();
  EXPECT_THAT(RunOne({&expired, &cancelled, &alive}), ElementsAre("2:0+2"));
  ASSERT_EQ(expired.finished.size(), 1u);
  EXPECT_EQ(expired.finished[0].code(), absl::StatusCode::kDeadlineExceeded);
  ASSERT_EQ(cancelled.finished.size(), 1u);
  EXPECT_EQ(cancelled.finished[0].code(), absl::StatusCode::kCancelled);
}

TEST_F(BatcherTest, TheRestOfAFailedJobIsNotLaunched) {
  TestJob large(17), next(1);
  ASSERT_TRUE(batcher().Submit(&large).ok());
  ASSERT_TRUE(batcher().Submit(&next).ok());
  const std::vector<Piece> first = batcher().Pull();
  ASSERT_EQ(first.size(), 1u);
  large.Settle(first[0].count, absl::InvalidArgumentError("x: row 3"));
  EXPECT_THAT(large.finished, IsEmpty());
  EXPECT_THAT(RunOne({&large, &next}), ElementsAre("1:0+1"));
  ASSERT_EQ(large.finished.size(), 1u);
  EXPECT_EQ(large.finished[0].message(), "x: row 3");
}

TEST_F(BatcherTest, StoppedRefusesAndStillGivesOutWhatItTook) {
  TestJob taken(2), late(1);
  ASSERT_TRUE(batcher().Submit(&taken).ok());
  batcher().Stop();
  EXPECT_EQ(batcher().Submit(&late).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(RunOne({&taken}), ElementsAre("0:0+2"));
  EXPECT_THAT(batcher().Pull(), IsEmpty());
}

TEST_F(BatcherTest, FailAllSettlesEveryJobOnce) {
  TestJob begun(10), waiting(3);
  ASSERT_TRUE(batcher().Submit(&begun).ok());
  ASSERT_TRUE(batcher().Submit(&waiting).ok());
  const std::vector<Piece> running = batcher().Pull();
  batcher().FailAll(absl::UnavailableError("gone"));
  EXPECT_THAT(waiting.finished, ElementsAre(absl::UnavailableError("gone")));
  EXPECT_THAT(begun.finished, IsEmpty());  // a piece still runs
  begun.Settle(running[0].count, absl::OkStatus());
  EXPECT_THAT(begun.finished, ElementsAre(absl::UnavailableError("gone")));
  EXPECT_EQ(batcher().depth().jobs, 0u);
}

}  // namespace
}  // namespace cvae
