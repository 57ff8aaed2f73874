#include "kernels/cpu/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "kernels/cpu/engine.h"

namespace cvae {
namespace {

namespace fs = std::filesystem;

std::string FirstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// quota / period in processors, rounded up; 0 unless both are positive numbers ("max" and -1 are no quota).
int Processors(const std::string& quota, const std::string& period) {
  double q = 0;
  double p = 0;
  if (!absl::SimpleAtod(quota, &q) || !absl::SimpleAtod(period, &p) || !(q > 0) || !(p > 0)) return 0;
  return static_cast<int>(std::min(std::ceil(q / p), 1e6));
}

int QuotaOf(const fs::path& group, bool version2) {
  if (!version2) return Processors(FirstLine(group / "cpu.cfs_quota_us"), FirstLine(group / "cpu.cfs_period_us"));
  const std::vector<std::string> fields = absl::StrSplit(FirstLine(group / "cpu.max"), ' ');
  return fields.size() == 2 ? Processors(fields[0], fields[1]) : 0;
}

// The least quota of the group at `path` below `mount` and of its parents, the mount's included: within a container the
// group's own path is often not there.
int LeastQuota(const fs::path& mount, const std::string& path, bool version2) {
  int least = 0;
  for (fs::path group = fs::path(path).relative_path();; group = group.parent_path()) {
    const int quota = QuotaOf(mount / group, version2);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    if (group.empty()) return least;
  }
}

}  // namespace

int CgroupCpuQuota(const std::string& root) {
  const fs::path mount = fs::path(root) / "sys/fs/cgroup";
  std::ifstream groups(fs::path(root) / "proc/self/cgroup");
  // Lines are ID:CONTROLLERS:PATH; version 2 has no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',', absl::SkipEmpty());
    const bool cpu = std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end();
    if (!controllers.empty() && !cpu) continue;
    const int quota = cpu ? LeastQuota(mount / "cpu", fields[2], false) : LeastQuota(mount, fields[2], true);
    if (quota > 0) return quota;
  }
  return 0;
}

int UsableCpus() {
  // A mask of a fixed size fails on machines with more processors: then the count of all of them stands in.
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int cpus = sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask)
                                                            : static_cast<int>(std::thread::hardware_concurrency());
  if (const int quota = CgroupCpuQuota("/"); quota > 0) cpus = std::min(cpus, quota);
  return std::max(cpus, 1);
}

}  // namespace cvae
