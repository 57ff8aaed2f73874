// The cgroup's CPU quota, as a pure function over a file system's root so that tests can make one up.

#ifndef CVAE_KERNELS_CPU_USABLE_CPUS_H_
#define CVAE_KERNELS_CPU_USABLE_CPUS_H_

#include <string>

namespace cvae {

// The least quota over this process's cgroup and its parents, in processors, rounded up; 0: there is none. Reads
// root/proc/self/cgroup and root/sys/fs/cgroup, version 2 (cpu.max) and version 1 (cpu.cfs_quota_us /
// cpu.cfs_period_us).
int CgroupCpuQuota(const std::string& root);

}  // namespace cvae

#endif  // CVAE_KERNELS_CPU_USABLE_CPUS_H_
