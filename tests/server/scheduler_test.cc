// What leaves as which batch, with a clock that only the test moves.

#include "server/scheduler.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/server/test_job.h"

namespace cvae {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest() {
    options_.max_batch_rows = 8;
    options_.max_queue_rows = 1000;
    options_.max_queue_bytes = 1000;
  }

  Scheduler& scheduler() {
    if (scheduler_ == nullptr) scheduler_ = std::make_unique<Scheduler>(options_);
    return *scheduler_;
  }

  struct Wish {
    uint64_t client = 0;
    Priority priority = Priority::kNormal;
    milliseconds within = milliseconds::max();  // its deadline, from now
    uint64_t bytes = 1;
  };

  // A job of some rows comes in.
  absl::Status Send(const std::string& name, uint64_t rows, Wish wish) {
    auto job = std::make_unique<TestJob>(rows, wish.bytes);
    job->client = wish.client;
    job->priority = wish.priority;
    if (wish.within != milliseconds::max()) job->deadline = now_ + wish.within;
    absl::Status status = scheduler().Add(job.get(), now_);
    names_[job.get()] = name;
    jobs_[name] = std::move(job);
    return status;
  }
  absl::Status Send(const std::string& name, uint64_t rows) { return Send(name, rows, Wish()); }

  // A batch leaves: "a:3+5" is rows 3 to 7 of a.
  std::vector<std::string> Leave() {
    std::vector<std::string> batch;
    std::vector<Scheduler::Dropped> expired;
    for (const Piece& piece : scheduler().Take(now_, &expired)) {
      batch.push_back(absl::StrCat(names_.at(piece.job), ":", piece.begin, "+", piece.count));
    }
    Note(expired);
    return batch;
  }

  void Note(const std::vector<Scheduler::Dropped>& dropped) {
    for (const auto& [job, rows, why] : dropped) {
      dropped_.push_back(absl::StrCat(names_.at(job), "+", rows, " ", absl::StatusCodeToString(why.code())));
    }
  }

  Scheduler::Options options_;
  Scheduler::TimePoint now_{};
  std::map<std::string, std::unique_ptr<TestJob>> jobs_;
  std::map<const Job*, std::string> names_;
  std::vector<std::string> dropped_;

 private:
  std::unique_ptr<Scheduler> scheduler_;
};

bool HasRetryInfo(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted &&
         status.GetPayload("type.googleapis.com/google.rpc.RetryInfo").has_value();
}

TEST_F(SchedulerTest, AllThatWaitsLeavesAsOneBatchInOrderOfArrival) {
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(Send(name, 2).ok());
  EXPECT_EQ(scheduler().counts().rows, 6u);
  EXPECT_THAT(Leave(), ElementsAre("a:0+2", "b:0+2", "c:0+2"));
  EXPECT_EQ(scheduler().counts().rows, 0u);
  EXPECT_EQ(scheduler().counts().bytes, 0u);
  EXPECT_THAT(Leave(), IsEmpty());
}

TEST_F(SchedulerTest, AJobLargerThanABatchGoesInPieces) {
  ASSERT_TRUE(Send("a", 19).ok());
  EXPECT_THAT(Leave(), ElementsAre("a:0+8"));
  EXPECT_THAT(Leave(), ElementsAre("a:8+8"));
  EXPECT_EQ(scheduler().counts().jobs, 1u);
  EXPECT_THAT(Leave(), ElementsAre("a:16+3"));
  EXPECT_TRUE(scheduler().empty());
}

TEST_F(SchedulerTest, ALargeJobLeavesHalfOfABatchToThoseBehindItAndGoesOn) {
  ASSERT_TRUE(Send("large", 30).ok());
  ASSERT_TRUE(Send("second", 20).ok());
  ASSERT_TRUE(Send("small", 1).ok());
  EXPECT_THAT(Leave(), ElementsAre("large:0+4", "second:0+3", "small:0+1"));
  ASSERT_TRUE(Send("three", 3).ok());
  EXPECT_THAT(Leave(), ElementsAre("large:4+4", "second:3+2", "three:0+2"));
  EXPECT_THAT(Leave(), ElementsAre("large:8+4", "second:5+3", "three:2+1"));
  // Small ones that keep coming do not stop it.
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(Send(absl::StrCat("small", i), 1).ok());
  EXPECT_THAT(Leave(), ElementsAre("large:12+4", "second:8+2", "small0:0+1", "small1:0+1"));
}

TEST_F(SchedulerTest, TheEarlierDeadlineLeavesFirst) {
  ASSERT_TRUE(Send("none", 4).ok());
  ASSERT_TRUE(Send("late", 4, {.within = milliseconds(300)}).ok());
  ASSERT_TRUE(Send("soon", 4, {.within = milliseconds(100)}).ok());
  EXPECT_THAT(Leave(), ElementsAre("soon:0+4", "late:0+2", "none:0+2"));
}

TEST_F(SchedulerTest, HighLeavesBeforeNormalBeforeLow) {
  ASSERT_TRUE(Send("low", 4, {.priority = Priority::kLow, .within = milliseconds(10)}).ok());
  ASSERT_TRUE(Send("normal", 4, {.within = milliseconds(900)}).ok());
  ASSERT_TRUE(Send("high", 4, {.priority = Priority::kHigh}).ok());
  EXPECT_THAT(Leave(), ElementsAre("high:0+4", "normal:0+2", "low:0+2"));
}

TEST_F(SchedulerTest, WhatHasWaitedASecondPerStepGoesBeforeWhatIsMoreUrgent) {
  ASSERT_TRUE(Send("low", 8, {.priority = Priority::kLow}).ok());
  now_ += seconds(2) + milliseconds(1);
  ASSERT_TRUE(Send("high", 8, {.priority = Priority::kHigh}).ok());
  EXPECT_THAT(Leave(), ElementsAre("low:0+4", "high:0+4"));
}

TEST_F(SchedulerTest, ClientsGetEvenSharesAndWhatOneDoesNotWantGoesToTheOthers) {
  options_.max_batch_rows = 1024;
  options_.max_queue_rows = 1 << 20;
  ASSERT_TRUE(Send("flood1", 5000, {.client = 1}).ok());
  ASSERT_TRUE(Send("flood2", 5000, {.client = 2}).ok());
  ASSERT_TRUE(Send("quiet", 300, {.client = 3}).ok());
  EXPECT_THAT(Leave(), ElementsAre("flood1:0+342", "flood2:0+382", "quiet:0+300"));
  EXPECT_THAT(Leave(), ElementsAre("flood1:342+512", "flood2:382+512"));
}

TEST_F(SchedulerTest, ManyClientsTakeTurns) {
  options_.max_batch_rows = 2 * Scheduler::kTurnRows;
  options_.max_queue_rows = 1 << 20;
  for (uint64_t client = 0; client < 5; ++client) {
    ASSERT_TRUE(Send(absl::StrCat("c", client), 300, {.client = client}).ok());
  }
  EXPECT_THAT(Leave(), ElementsAre("c0:0+256", "c1:0+256"));
  EXPECT_THAT(Leave(), ElementsAre("c2:0+256", "c3:0+256"));
  EXPECT_THAT(Leave(), ElementsAre("c4:0+300", "c0:256+44", "c1:256+44", "c2:256+44", "c3:256+44"));
}

TEST_F(SchedulerTest, FullIsRefusedWithAHint) {
  options_.max_queue_rows = 20;
  options_.max_queue_bytes = 100;
  ASSERT_TRUE(Send("a", 12, {.client = 1}).ok());
  const absl::Status rows = Send("b", 9, {.client = 2});
  EXPECT_TRUE(HasRetryInfo(rows)) << rows;
  EXPECT_THAT(std::string(rows.message()), HasSubstr("12 rows"));
  const absl::Status bytes = Send("c", 1, {.client = 2, .bytes = 100});
  EXPECT_TRUE(HasRetryInfo(bytes)) << bytes;
  EXPECT_TRUE(Send("d", 8, {.client = 2, .bytes = 99}).ok());
  Leave();  // rows free up as they leave, bytes when the last has left
  EXPECT_EQ(scheduler().counts().rows, 12u);
  EXPECT_EQ(scheduler().counts().bytes, 100u);
}

TEST_F(SchedulerTest, NoClientFillsTheQueue) {
  options_.max_queue_rows = 100;
  ASSERT_TRUE(Send("all", 40, {.client = 1}).ok());
  ASSERT_TRUE(Send("half", 10, {.client = 1}).ok());
  EXPECT_TRUE(HasRetryInfo(Send("more", 1, {.client = 1})));
  EXPECT_TRUE(Send("other", 25, {.client = 2}).ok());
  EXPECT_TRUE(HasRetryInfo(Send("more", 1, {.client = 2})));
  EXPECT_TRUE(Send("third", 25, {.client = 3}).ok());  // with nothing waiting: whatever fits
}

TEST_F(SchedulerTest, WhatExpiresIsDroppedOnTimeAndNeverLeaves) {
  ASSERT_TRUE(Send("a", 2, {.within = milliseconds(5)}).ok());
  ASSERT_TRUE(Send("b", 2, {.within = milliseconds(50)}).ok());
  EXPECT_EQ(scheduler().next_expiry(), now_ + milliseconds(5));
  now_ += milliseconds(5) - std::chrono::nanoseconds(1);
  EXPECT_THAT(scheduler().Expire(now_), IsEmpty());
  now_ += std::chrono::nanoseconds(1);
  Note(scheduler().Expire(now_));
  EXPECT_THAT(dropped_, ElementsAre("a+2 DEADLINE_EXCEEDED"));
  EXPECT_EQ(scheduler().counts().rows, 2u);
  now_ += milliseconds(45);
  EXPECT_THAT(Leave(), IsEmpty());
  EXPECT_THAT(dropped_, ElementsAre("a+2 DEADLINE_EXCEEDED", "b+2 DEADLINE_EXCEEDED"));
}

TEST_F(SchedulerTest, AnExpiredCallIsNotTakenIn) {
  EXPECT_EQ(Send("a", 1, {.within = milliseconds(0)}).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(scheduler().empty());
}

TEST_F(SchedulerTest, WithoutADeadlineACallMayBeQueuedForSoLongAndOnceBegunGoesOn) {
  options_.max_queue_time = milliseconds(100);
  ASSERT_TRUE(Send("begun", 12).ok());
  ASSERT_TRUE(Send("begun with a deadline", 12, {.within = milliseconds(100)}).ok());
  EXPECT_THAT(Leave(), ElementsAre("begun with a deadline:0+4", "begun:0+4"));
  ASSERT_TRUE(Send("waits", 3).ok());
  now_ += milliseconds(100);
  EXPECT_THAT(Leave(), ElementsAre("begun:4+8"));
  EXPECT_THAT(dropped_, ElementsAre("begun with a deadline+8 DEADLINE_EXCEEDED", "waits+3 RESOURCE_EXHAUSTED"));
}

TEST_F(SchedulerTest, ARemovedJobFreesWhatItHeld) {
  ASSERT_TRUE(Send("a", 12, {.bytes = 5}).ok());
  ASSERT_TRUE(Send("b", 2).ok());
  EXPECT_THAT(Leave(), ElementsAre("a:0+6", "b:0+2"));
  EXPECT_EQ(scheduler().Remove(jobs_["a"].get()), 6u);
  EXPECT_EQ(scheduler().Remove(jobs_["a"].get()), 0u);
  EXPECT_EQ(scheduler().Remove(jobs_["b"].get()), 0u);
  EXPECT_TRUE(scheduler().empty());
  EXPECT_EQ(scheduler().counts().rows, 0u);
  EXPECT_EQ(scheduler().counts().bytes, 0u);
  EXPECT_EQ(scheduler().next_expiry(), Scheduler::TimePoint::max());
}

TEST_F(SchedulerTest, RemoveAllEmptiesIt) {
  for (uint64_t client = 0; client < 3; ++client) ASSERT_TRUE(Send(absl::StrCat(client), 2, {.client = client}).ok());
  Note(scheduler().RemoveAll(absl::UnavailableError("gone")));
  EXPECT_THAT(dropped_, ElementsAre("0+2 UNAVAILABLE", "1+2 UNAVAILABLE", "2+2 UNAVAILABLE"));
  EXPECT_TRUE(scheduler().empty());
}

TEST_F(SchedulerTest, ABatchLeavesAtOnceUnlessItIsToLinger) {
  EXPECT_EQ(scheduler().ready_at(), Scheduler::TimePoint::max());
  ASSERT_TRUE(Send("a", 1).ok());
  EXPECT_EQ(scheduler().ready_at(), now_);
}

TEST_F(SchedulerTest, ALingeringBatchLeavesWhenItIsFullOrItsFirstJobHasWaited) {
  options_.linger = milliseconds(3);
  ASSERT_TRUE(Send("a", 1).ok());
  const Scheduler::TimePoint arrived = now_;
  now_ += milliseconds(1);
  ASSERT_TRUE(Send("b", 1).ok());
  EXPECT_EQ(scheduler().ready_at(), arrived + milliseconds(3));
  ASSERT_TRUE(Send("c", 6).ok());
  EXPECT_LE(scheduler().ready_at(), now_);
}

TEST_F(SchedulerTest, WhatADeadlineCannotMeetIsRefusedWithAHint) {
  options_.lanes = 2;
  for (int i = 0; i < 100; ++i) scheduler().BatchTook(milliseconds(10), milliseconds(8));
  // Nothing waits: it goes next, whatever batches took, so that one slow batch does not shut the door for ever.
  ASSERT_TRUE(Send("a", 8, {.within = milliseconds(1)}).ok());
  // One batch before it: 10 ms * (1 + (1 + 1) / 2), and the margin.
  const absl::Status refused = Send("b", 1, {.within = milliseconds(24)});
  EXPECT_TRUE(HasRetryInfo(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("of the 24ms that it has: 8 rows wait"));
  // Of a larger job the last rows count: two batches more before those.
  EXPECT_TRUE(HasRetryInfo(Send("large", 24, {.within = milliseconds(36)})));
  EXPECT_TRUE(Send("c", 24, {.within = milliseconds(38)}).ok());
  EXPECT_TRUE(HasRetryInfo(Send("d", 1, {.within = milliseconds(26)})));
  // What is due later does not count, nor what others have beyond this client's turn.
  EXPECT_TRUE(Send("e", 1, {.priority = Priority::kHigh, .within = milliseconds(20)}).ok());
}

TEST_F(SchedulerTest, WithoutADeadlineTheLongestTimeInQueueIsWhatACallHas) {
  options_.max_queue_time = milliseconds(15);
  for (int i = 0; i < 100; ++i) scheduler().BatchTook(milliseconds(10), milliseconds(8));
  ASSERT_TRUE(Send("a", 8).ok());
  EXPECT_TRUE(HasRetryInfo(Send("b", 1)));
}

// Whole runs, with lanes that take `fixed + rows * per_row` for a batch, all on the test's clock.
class SimulationTest : public SchedulerTest {
 protected:
  struct Source {
    uint64_t client = 0;
    std::chrono::nanoseconds every{0};  // between two jobs
    milliseconds within = milliseconds::max();
    uint64_t rows = 1;
    Scheduler::TimePoint next{};
    // What came of it.
    uint64_t sent = 0, refused = 0, in_time = 0, late = 0, expired = 0;
    std::vector<std::chrono::nanoseconds> times{};  // of the answered
  };

  struct Lane {
    Scheduler::TimePoint free{};
    Scheduler::TimePoint began{};
    std::vector<Piece> batch{};
  };

  void Run(std::vector<Source>* sources, Scheduler::TimePoint until, std::chrono::nanoseconds fixed,
           std::chrono::nanoseconds per_row) {
    std::vector<Lane> lanes(options_.lanes);
    std::vector<Scheduler::Dropped> expired;
    while (now_ < until) {
      Expired(scheduler().Expire(now_));
      for (Lane& lane : lanes) {
        if (now_ < lane.free) continue;
        if (!lane.batch.empty()) Finish(&lane);
        lane.batch = scheduler().Take(now_, &expired);
        Expired(expired);
        uint64_t rows = 0;
        for (const Piece& piece : lane.batch) {
          ASSERT_LT(now_, piece.job->deadline) << "launched after its deadline";
          rows += piece.count;
        }
        lane.began = now_;
        if (rows > 0) lane.free = now_ + fixed + rows * per_row;
      }
      for (Source& source : *sources) Arrive(&source);
      // On to the next event.
      Scheduler::TimePoint next = scheduler().next_expiry();
      for (const Lane& lane : lanes) {
        if (lane.free > now_) next = std::min(next, lane.free);
        if (lane.free <= now_ && !scheduler().empty()) next = now_;
      }
      for (const Source& source : *sources) next = std::min(next, source.next);
      now_ = next;
    }
  }

 private:
  void Finish(Lane* lane) {
    scheduler().BatchTook(now_ - lane->began, now_ - lane->began);
    for (const Piece& piece : lane->batch) {
      if (piece.begin + piece.count < piece.job->computed_rows()) continue;
      const auto [source, arrived, job] = std::move(sent_.at(piece.job));
      ++(now_ <= piece.job->deadline ? source->in_time : source->late);
      source->times.push_back(now_ - arrived);
      sent_.erase(piece.job);
    }
    lane->batch.clear();
  }

  void Expired(const std::vector<Scheduler::Dropped>& dropped) {
    for (const Scheduler::Dropped& one : dropped) {
      ++sent_.at(one.job).source->expired;
      sent_.erase(one.job);
    }
  }

  void Arrive(Source* source) {
    for (; source->next <= now_; source->next += source->every) {
      auto job = std::make_unique<TestJob>(source->rows);
      job->client = source->client;
      if (source->within != milliseconds::max()) job->deadline = source->next + source->within;
      ++source->sent;
      if (scheduler().Add(job.get(), now_).ok()) {
        TestJob* const raw = job.get();
        sent_[raw] = {source, now_, std::move(job)};
      } else {
        ++source->refused;
      }
    }
  }

  struct Sent {
    Source* source;
    Scheduler::TimePoint arrived;
    std::unique_ptr<TestJob> job;
  };
  std::map<const Job*, Sent> sent_;
};

TEST_F(SimulationTest, AtFiveTimesTheCapacityMostOfItStillMeetsDeadlines) {
  options_.max_batch_rows = 256;
  options_.max_queue_rows = options_.max_queue_bytes = 1 << 20;
  options_.lanes = 2;
  // Two lanes of 256 rows in 10 ms: 51200 rows a second.
  const std::chrono::nanoseconds fixed(500'000), per_row(37'100);
  std::vector<Source> sources = {
      {.every = std::chrono::nanoseconds(1'000'000'000 / 256'000), .within = milliseconds(50)}};
  Run(&sources, now_ + seconds(1), fixed, per_row);
  const Source& source = sources[0];
  EXPECT_GE(source.in_time, 0.9 * 51'200);
  EXPECT_LE(source.late, 0.02 * source.in_time);
  EXPECT_GE(source.refused, 0.95 * (source.sent - source.in_time));  // at once, not after having waited for nothing
}

TEST_F(SimulationTest, AFloodingClientDoesNotDelayAnother) {
  options_.max_batch_rows = 256;
  options_.max_queue_rows = options_.max_queue_bytes = 1 << 20;
  options_.lanes = 2;
  const std::chrono::nanoseconds fixed(500'000), per_row(37'100);
  std::vector<Source> sources = {{.client = 1, .every = std::chrono::microseconds(10), .rows = 4},
                                 {.client = 2, .every = std::chrono::milliseconds(5), .rows = 16}};
  Run(&sources, now_ + seconds(1), fixed, per_row);
  std::vector<std::chrono::nanoseconds>& times = sources[1].times;
  std::sort(times.begin(), times.end());
  ASSERT_GT(times.size(), 190u);
  EXPECT_EQ(sources[1].refused + sources[1].expired, 0u);
  // A lane becomes free within a batch's time, and the next batch takes it along.
  EXPECT_LE(times.back(), milliseconds(20));
  EXPECT_GT(sources[0].in_time, 10'000u);
}

}  // namespace
}  // namespace cvae
