#include "server/scheduler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/errors.h"

namespace cvae {
namespace {

using Duration = Scheduler::Duration;
using TimePoint = Scheduler::TimePoint;

// A job is due this long after its arrival at the latest; a step of priority counts as much.
constexpr Duration kPatience = std::chrono::seconds(1);

// What is predicted to take more than this part of the time that a job has is refused: batch times vary, and the answer
// must still travel.
constexpr double kTimeMargin = 0.8;

constexpr Duration kShortestRetry = std::chrono::milliseconds(10);
constexpr Duration kLongestRetry = std::chrono::seconds(5);

absl::Duration RetryAfter(Duration predicted) {
  return absl::FromChrono(std::clamp(predicted, kShortestRetry, kLongestRetry));
}

uint64_t Microseconds(Duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

uint64_t RowsLeft(const Job& job) { return job.computed_rows() - job.ticket.next; }

// What one of `takers` gets of `room` if it wants `want` and those after it want `behind` together: all but what they
// want, and an equal share at the least.
uint64_t Share(uint64_t want, uint64_t room, uint64_t behind, uint64_t takers) {
  return std::min(want, room - std::min(behind, room * (takers - 1) / takers));
}

TimePoint DueTime(const Job& job, TimePoint now) {
  const int steps_after_normal = static_cast<int>(job.priority) - static_cast<int>(Priority::kNormal);
  return std::min(job.deadline, now + kPatience) + steps_after_normal * kPatience;
}

absl::Status WhyExpired(const Job& job, Duration max_queue_time) {
  if (job.ticket.expiry == job.deadline) {
    return absl::DeadlineExceededError("the deadline passed while the call was queued");
  }
  return RetryLater(absl::StrCat("the call was queued for ", absl::FormatDuration(absl::FromChrono(max_queue_time)),
                                 " (--max_queue_ms) without beginning"),
                    RetryAfter(max_queue_time));
}

}  // namespace

bool Scheduler::ByDue::operator()(const Job* a, const Job* b) const {
  return std::tie(a->ticket.due, a->ticket.number) < std::tie(b->ticket.due, b->ticket.number);
}

bool Scheduler::ByExpiry::operator()(const Job* a, const Job* b) const {
  return std::tie(a->ticket.expiry, a->ticket.number) < std::tie(b->ticket.expiry, b->ticket.number);
}

absl::Status Scheduler::Add(Job* job, TimePoint now) {
  if (now >= job->deadline) {
    ++counts_.refused_expired;
    return absl::DeadlineExceededError("the deadline passed before the call was queued");
  }
  Job::Ticket& ticket = job->ticket;
  ticket.next = 0;
  ticket.number = arrivals_++;
  ticket.arrived = now;
  ticket.rank = 2 * static_cast<int>(job->priority) + (job->deadline > now + kPatience);
  ticket.due = DueTime(*job, now);
  ticket.expiry = job->deadline < TimePoint::max() ? job->deadline : now + options_.max_queue_time;

  const auto found = client_of_id_.find(job->client);
  const Client* known = found == client_of_id_.end() ? nullptr : &*found->second;
  if (absl::Status full = CheckBounds(*job, known); !full.ok()) return full;
  if (absl::Status late = CheckTime(*job, known, now); !late.ok()) return late;

  if (empty()) waiting_since_ = now;
  ticket.waiting = true;
  Client& client = *ClientOf(*job);
  client.jobs.insert(job);
  client.rows += job->computed_rows();
  client.rows_of_rank[ticket.rank] += job->computed_rows();
  client.bytes += job->bytes;
  expiring_.insert(job);
  ++counts_.admitted;
  ++counts_.jobs;
  counts_.rows += job->computed_rows();
  counts_.bytes += job->bytes;
  return absl::OkStatus();
}

absl::Status Scheduler::CheckBounds(const Job& job, const Client* client) {
  const uint64_t rows = job.computed_rows();
  const uint64_t free_rows = options_.max_queue_rows - counts_.rows;
  const uint64_t free_bytes = options_.max_queue_bytes - counts_.bytes;
  if (rows > free_rows || job.bytes > free_bytes) {
    ++counts_.refused_full;
    return RetryLater(absl::StrCat("the queue is full: ", counts_.rows, " rows and ", counts_.bytes,
                                   " bytes wait, this call brings ", rows, " and ", job.bytes),
                      RetryAfter(Predict(job, client)));
  }
  // Whoever has something waiting leaves as much free for others as it holds, so that no one fills the queue.
  if (client == nullptr) return absl::OkStatus();
  if (client->rows + rows <= free_rows - rows && client->bytes + job.bytes <= free_bytes - job.bytes) {
    return absl::OkStatus();
  }
  ++counts_.refused_client_full;
  return RetryLater(absl::StrCat("this client's part of the queue is full: ", client->rows, " rows and ", client->bytes,
                                 " bytes of it wait, this call brings ", rows, " and ", job.bytes, "; ", free_rows,
                                 " and ", free_bytes, " are free, of which it must leave others as much as it takes"),
                    RetryAfter(Predict(job, client)));
}

absl::Status Scheduler::CheckTime(const Job& job, const Client* client, TimePoint now) {
  if (empty()) return absl::OkStatus();  // it goes next: the only way to learn that batches have become faster
  const Duration predicted = Predict(job, client);
  const Duration has = job.ticket.expiry - now;
  if (predicted <= kTimeMargin * has) return absl::OkStatus();
  return RetryLater(
      absl::StrCat("the call would take about ", absl::FormatDuration(absl::FromChrono(predicted)), " of the ",
                   absl::FormatDuration(absl::FromChrono(has)), " that it has: ", counts_.rows, " rows wait"),
      RetryAfter(predicted));
}

Duration Scheduler::Predict(const Job& job, const Client* client) const {
  // Rows that leave before its last batch.
  uint64_t own = 0;
  for (int rank = 0; client != nullptr && rank <= job.ticket.rank; ++rank) own += client->rows_of_rank[rank];
  const uint64_t other_clients = clients_.size() - (client != nullptr);
  const uint64_t other_rows = counts_.rows - (client != nullptr ? client->rows : 0);
  // Turn for turn: until these rows have left, each of the others gets no more.
  const uint64_t turns = std::max(own + job.computed_rows(), kTurnRows);
  const uint64_t of_others = std::min(other_rows, other_clients * turns);
  const uint64_t of_the_job = job.computed_rows() - std::min(job.computed_rows(), options_.max_batch_rows);
  const double before = static_cast<double>(own + of_others + of_the_job);
  const double batches = (before / static_cast<double>(options_.max_batch_rows) + 1) / options_.lanes;
  return std::chrono::duration_cast<Duration>(batch_time_ * (1 + batches));
}

std::vector<Piece> Scheduler::Take(TimePoint now, std::vector<Dropped>* expired) {
  *expired = Expire(now);
  std::vector<Piece> batch;
  uint64_t room = options_.max_batch_rows;
  uint64_t behind = counts_.rows;
  for (uint64_t turns = clients_.size(); turns > 0 && room > 0; --turns) {
    const auto client = clients_.begin();
    behind -= client->rows;
    const uint64_t share =
        std::max(Share(client->rows, room, behind, turns), std::min({client->rows, room, kTurnRows}));
    room -= TakeFrom(&*client, share, now, &batch);
    clients_.splice(clients_.end(), clients_, client);
    DropClientIfIdle(client);
  }
  if (!batch.empty()) counts_.batch_rows.Add(options_.max_batch_rows - room);
  return batch;
}

uint64_t Scheduler::TakeFrom(Client* client, uint64_t room, TimePoint now, std::vector<Piece>* batch) {
  uint64_t taken = 0;
  uint64_t behind = client->rows;
  for (auto next = client->jobs.begin(); taken < room && next != client->jobs.end();) {
    Job* const job = *next;
    const uint64_t left = RowsLeft(*job);
    behind -= left;
    const uint64_t count = Share(left, room - taken, behind, 2);
    if (job->ticket.next == 0) counts_.queue_us.Add(Microseconds(now - job->ticket.arrived));
    batch->push_back({job, job->ticket.next, static_cast<uint32_t>(count)});
    Leave(client, job, count);
    next = count == left ? client->jobs.erase(next) : std::next(next);
    taken += count;
  }
  return taken;
}

void Scheduler::Leave(Client* client, Job* job, uint64_t count) {
  Job::Ticket& ticket = job->ticket;
  const bool all = count == RowsLeft(*job);
  if (all || job->deadline == TimePoint::max()) {
    expiring_.erase(job);  // what has begun and has no deadline does not expire
  }
  ticket.next += count;
  client->rows -= count;
  client->rows_of_rank[ticket.rank] -= count;
  counts_.rows -= count;
  if (!all) return;
  ticket.waiting = false;
  client->bytes -= job->bytes;
  counts_.bytes -= job->bytes;
  --counts_.jobs;
}

uint64_t Scheduler::Remove(Job* job) {
  if (!job->ticket.waiting) return 0;
  const uint64_t rows = RowsLeft(*job);
  const auto client = client_of_id_.at(job->client);
  Leave(&*client, job, rows);
  client->jobs.erase(job);
  DropClientIfIdle(client);
  return rows;
}

void Scheduler::CountGivenUp(Job* job, const absl::Status& why) {
  if (std::exchange(job->ticket.given_up, true)) return;
  ++(absl::IsDeadlineExceeded(why)    ? counts_.expired
     : absl::IsResourceExhausted(why) ? counts_.queued_too_long
     : absl::IsCancelled(why)         ? counts_.cancelled
                                      : counts_.failed);
}

void Scheduler::BatchTook(Duration time, Duration computing) {
  batch_time_ += (time - batch_time_) / kBatchTimeSmoothing;
  counts_.lane_busy_us += Microseconds(time);
  counts_.compute_us.Add(Microseconds(computing));
}

std::vector<Scheduler::Dropped> Scheduler::Expire(TimePoint now) {
  std::vector<Dropped> dropped;
  while (next_expiry() <= now) {
    Job* const job = *expiring_.begin();
    counts_.overstay_us.Add(Microseconds(now - job->ticket.expiry));
    dropped.push_back({job, Remove(job), WhyExpired(*job, options_.max_queue_time)});
    CountGivenUp(job, dropped.back().why);
  }
  return dropped;
}

std::vector<Scheduler::Dropped> Scheduler::RemoveAll(const absl::Status& why) {
  std::vector<Dropped> dropped;
  while (!empty()) {
    Job* const job = *clients_.front().jobs.begin();
    dropped.push_back({job, Remove(job), why});
    CountGivenUp(job, why);
  }
  return dropped;
}

TimePoint Scheduler::ready_at() const {
  if (empty()) return TimePoint::max();
  return counts_.rows >= options_.max_batch_rows ? waiting_since_ : waiting_since_ + options_.linger;
}

TimePoint Scheduler::next_expiry() const {
  return expiring_.empty() ? TimePoint::max() : (*expiring_.begin())->ticket.expiry;
}

Scheduler::Clients::iterator Scheduler::ClientOf(const Job& job) {
  const auto [entry, is_new] = client_of_id_.try_emplace(job.client);
  if (is_new) {
    clients_.emplace_back().id = job.client;
    entry->second = std::prev(clients_.end());
  }
  return entry->second;
}

void Scheduler::DropClientIfIdle(Clients::iterator client) {
  if (!client->jobs.empty()) return;
  client_of_id_.erase(client->id);
  clients_.erase(client);
}

}  // namespace cvae
