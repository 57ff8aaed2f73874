// When the calls of an open loop are to be sent, whatever becomes of those before.

#ifndef CVAE_CLIENT_BENCH_ARRIVALS_H_
#define CVAE_CLIENT_BENCH_ARRIVALS_H_

#include <chrono>
#include <cstdint>
#include <random>

namespace cvae {

// A Poisson process: what many callers who know nothing of each other make together. Several of them, each with its own
// seed, are one of the sum of their rates. It has no clock: a call is due at its time also when its sender is late, and
// its latency is measured from then, so that a server which stalls answers for the calls that it held up (no
// coordinated omission). Not thread-safe.
class Arrivals {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `rate`: calls a second on average, > 0.
  Arrivals(TimePoint start, double rate, uint64_t seed) : due_(start), gap_(rate), random_(seed) { Advance(); }

  // When the next call is due.
  TimePoint due() const { return due_; }

  // Takes the next call if it is due at `now`: true, and when it was due. A sender that has fallen behind gets all of
  // those it missed, one after the other.
  bool Take(TimePoint now, TimePoint* was_due) {
    if (now < due_) return false;
    *was_due = due_;
    Advance();
    return true;
  }

 private:
  void Advance() {
    const std::chrono::duration<double> gap(gap_(random_));
    due_ += std::chrono::duration_cast<TimePoint::duration>(gap);
  }

  TimePoint due_;
  std::exponential_distribution<double> gap_;  // seconds
  std::mt19937_64 random_;
};

}  // namespace cvae

#endif  // CVAE_CLIENT_BENCH_ARRIVALS_H_
