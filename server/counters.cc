#include "server/counters.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace cvae {
namespace {

std::string Describe(const Histogram& histogram) {
  if (histogram.count == 0) return "none";
  return absl::StrCat("p50 ", histogram.Quantile(0.5), " p99 ", histogram.Quantile(0.99), " max ", histogram.max);
}

std::string Describe(const MethodCounts& method) {
  std::string line = absl::StrCat(method.name, ":");
  for (size_t code = 0; code < method.calls_of_code.size(); ++code) {
    if (method.calls_of_code[code] == 0) continue;
    absl::StrAppend(&line, " ", absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), " ",
                    method.calls_of_code[code]);
  }
  return method.rows == 0 ? line : absl::StrCat(line, ", rows ", method.rows);
}

std::string Describe(const Counts::Model& model) {
  const QueueCounts& queue = model.queue;
  return absl::StrCat("model ", model.name, ": admitted ", queue.admitted, "; refused: queue full ", queue.refused_full,
                      ", client's part full ", queue.refused_client_full, ", too little time ", queue.refused_time,
                      ", none left ", queue.refused_expired, "; given up: expired ", queue.expired,
                      ", queued too long ", queue.queued_too_long, ", cancelled ", queue.cancelled, ", failed ",
                      queue.failed, "; batches ", queue.batch_rows.count, " of rows ", Describe(queue.batch_rows),
                      "; us queued ", Describe(queue.queue_us), ", us of a batch computing ",
                      Describe(queue.compute_us), ", us past expiry ", Describe(queue.overstay_us), "; lanes busy ms ",
                      queue.lane_busy_us / 1000, "; waiting ", queue.jobs);
}

}  // namespace

uint64_t Histogram::Quantile(double fraction) const {
  uint64_t wanted = static_cast<uint64_t>(std::ceil(fraction * static_cast<double>(count)));
  for (size_t digits = 0; digits < buckets.size(); ++digits) {
    if (buckets[digits] >= wanted) return digits == 64 ? max : std::min(max, (uint64_t{1} << digits) - 1);
    wanted -= buckets[digits];
  }
  return max;
}

MethodCounts MethodCounters::Copy(absl::string_view name) const {
  MethodCounts copy;
  copy.name = std::string(name);
  for (int code = 0; code < kStatusCodes; ++code) copy.calls_of_code[code] = calls_of_code_[code].load();
  copy.rows = rows_.load();
  return copy;
}

std::vector<std::string> Describe(const Counts& counts) {
  std::vector<std::string> lines;
  for (const MethodCounts& method : counts.methods) {
    const bool called = std::any_of(method.calls_of_code.begin(), method.calls_of_code.end(), [](auto n) { return n; });
    if (called) lines.push_back(Describe(method));
  }
  for (const Counts::Model& model : counts.models) lines.push_back(Describe(model));
  lines.push_back(absl::StrCat("in flight ", counts.in_flight, ", unread bytes ", counts.unread_bytes));
  return lines;
}

}  // namespace cvae
