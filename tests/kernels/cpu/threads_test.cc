#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/engine.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/usable_cpus.h"

namespace cvae {
namespace {

TEST(ThreadPool, DoesEachIndexOnceWithASlotOfItsOwn) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const int count : {0, 1, 2, 3, 100}) {
      std::vector<std::atomic<int>> done(count);
      std::vector<std::atomic<int>> in_slot(threads);
      pool.ParallelFor(count, [&](int index, int slot) {
        EXPECT_EQ(in_slot[slot].fetch_add(1), 0);
        done[index].fetch_add(1);
        in_slot[slot].fetch_sub(1);
      });
      for (const std::atomic<int>& times : done) EXPECT_EQ(times.load(), 1);
    }
  }
}

TEST(ThreadPool, TakesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pool.ParallelFor(7, [&](int, int) { sum.fetch_add(1); });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 4 * 200 * 7);
}

// A file system's root made up for one test.
class CgroupTest : public testing::Test {
 protected:
  CgroupTest()
      : root_(testing::TempDir() + "cgroup_test" + std::to_string(getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
  }
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  const std::string root_;
};

TEST_F(CgroupTest, Version2TakesTheLeastOfTheGroupAndItsParents) {
  Write("/proc/self/cgroup", "0::/a/b\n");
  Write("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  Write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 2);
}

TEST_F(CgroupTest, Version2OfAContainerIsAtTheMount) {
  Write("/proc/self/cgroup", "0::/not/here\n");
  Write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 1);
}

TEST_F(CgroupTest, Version1) {
  Write("/proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a\n");
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 3);
}

TEST_F(CgroupTest, NoQuotaIsNone) {
  EXPECT_EQ(CgroupCpuQuota(root_), 0);
  Write("/proc/self/cgroup", "garbage\n0::/\n4:cpu:/\n");
  Write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 0);
}

TEST(UsableCpus, IsAtLeastOne) { EXPECT_GE(UsableCpus(), 1); }

}  // namespace
}  // namespace cvae
