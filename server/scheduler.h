// Decides which rows leave as the next batch, and what is refused or given up. Pure: no threads, no locks, no clock;
// the time comes as an argument. The batcher puts it between threads.
//
// A batch is all that waits, up to the row cap. When more waits, it is dealt out so:
//  - By client. Those with something waiting take turns, and each turn gets at least an equal share of the batch, but
//    no fewer than kTurnRows rows if it wants them. What a client does not want goes to the others. So one that asks
//    for no more than its share leaves with the next batch, however much others have sent.
//  - Of one client by due time: the deadline, but a second after arrival at the latest; a second earlier for a call of
//    high priority, a second later for one of low. So high goes before normal before low, and the earlier deadline
//    first; and nothing starves, since what comes later is due later.
//  - A job larger than half of what is left of its client's share leaves a half to those behind it: it cannot block
//    them, and goes on all the time itself. Any job may go in pieces, over several batches and lanes.
//
// A job is admitted if it fits the queue's bounds and will probably be computed in time, or nothing else waits:
//
//   predicted = batch time * (1 + (rows before its last batch / max_batch_rows + 1) / lanes)
//
// The longest time in queue of a job is until its deadline, or max_queue_time if it has none: then it is dropped.

#ifndef CVAE_SERVER_SCHEDULER_H_
#define CVAE_SERVER_SCHEDULER_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/counters.h"
#include "server/job.h"

namespace cvae {

// Computed rows [begin, begin + count) of a job.
struct Piece {
  Job* job = nullptr;
  uint64_t begin = 0;
  uint32_t count = 0;
};

// One thread at a time.
class Scheduler {
 public:
  using TimePoint = Job::TimePoint;
  using Duration = std::chrono::nanoseconds;

  // Fewest rows of a client's turn, if it wants them: among many clients, few large pieces rather than many small ones.
  static constexpr uint64_t kTurnRows = 256;

  struct Options {
    uint64_t max_batch_rows = 4096;
    int lanes = 1;
    uint64_t max_queue_rows = 1 << 21;                   // >= the most rows of one job
    uint64_t max_queue_bytes = 1 << 30;                  // >= the most bytes of one job
    Duration max_queue_time = std::chrono::seconds(30);  // for jobs without a deadline to begin
    Duration linger{0};  // that a batch with room waits for more, counted from when something began to wait
  };

  explicit Scheduler(Options options) : options_(options) {}

  // Takes the job in. On an error it is not in: RESOURCE_EXHAUSTED with RetryInfo if the queue, or what one client may
  // hold of it, is full or its time will probably not suffice; DEADLINE_EXCEEDED if that has passed already.
  absl::Status Add(Job* job, TimePoint now);

  // A job, or the rest of one, that left the queue without being launched: its rows are to be settled with `why`.
  struct Dropped {
    Job* job = nullptr;
    uint64_t rows = 0;
    absl::Status why;
  };

  // The next batch; empty if nothing waits. What has expired goes to `expired` and never into a batch.
  std::vector<Piece> Take(TimePoint now, std::vector<Dropped>* expired);

  // Drops what has expired.
  std::vector<Dropped> Expire(TimePoint now);

  // Takes what waits of a job out: its rows, 0 if nothing of it waits. The job must be alive.
  uint64_t Remove(Job* job);
  // Counts a job that was given up, once.
  void CountGivenUp(Job* job, const absl::Status& why);

  // Takes everything out.
  std::vector<Dropped> RemoveAll(const absl::Status& why);

  // A batch took this long, from Take to the last answer, and that much of it in the engine.
  void BatchTook(Duration time, Duration computing);

  // When the next batch should leave: never (max) if nothing waits.
  TimePoint ready_at() const;
  // When the next job expires; max: none will.
  TimePoint next_expiry() const;

  bool empty() const { return counts_.jobs == 0; }
  const QueueCounts& counts() const { return counts_; }

 private:
  static constexpr int kBatchTimeSmoothing = 4;
  static constexpr int kRanks = 6;  // three priorities; of each, what is due by a deadline before the rest

  struct ByDue {
    bool operator()(const Job* a, const Job* b) const;
  };
  struct ByExpiry {
    bool operator()(const Job* a, const Job* b) const;
  };

  // One with something waiting.
  struct Client {
    uint64_t id = 0;
    absl::btree_set<Job*, ByDue> jobs;
    std::array<uint64_t, kRanks> rows_of_rank{};
    uint64_t rows = 0;
    uint64_t bytes = 0;
  };
  using Clients = std::list<Client>;

  absl::Status CheckBounds(const Job& job, const Client* client);
  absl::Status CheckTime(const Job& job, const Client* client, TimePoint now);
  // From now until the job's answer, if it came in now.
  Duration Predict(const Job& job, const Client* client) const;
  // Up to `room` rows of a client, each a piece of the batch. Returns how many.
  uint64_t TakeFrom(Client* client, uint64_t room, TimePoint now, std::vector<Piece>* batch);
  // `count` rows of a waiting job leave; the last of them take the job out of all but its client's set.
  void Leave(Client* client, Job* job, uint64_t count);
  Clients::iterator ClientOf(const Job& job);
  void DropClientIfIdle(Clients::iterator client);

  const Options options_;
  Clients clients_;  // the one whose turn is next at the front
  absl::flat_hash_map<uint64_t, Clients::iterator> client_of_id_;
  absl::btree_set<Job*, ByExpiry> expiring_;  // those that wait and expire
  QueueCounts counts_;
  uint64_t arrivals_ = 0;
  TimePoint waiting_since_;  // of all that waits, the first arrival or earlier
  Duration batch_time_{0};   // smoothed
};

}  // namespace cvae

#endif  // CVAE_SERVER_SCHEDULER_H_
