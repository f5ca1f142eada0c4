#include "host/control_group.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace am::host::control_group_test {

// A machine of files below a folder of its own.
class ControlGroupTest : public ::testing::Test {
 protected:
  ControlGroupTest() {
    std::string name = ::testing::TempDir() + "/control_group_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~ControlGroupTest() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  /// In the only group there is, of version 2.
  void limit(const std::string& processors, const std::string& memory, const std::string& processes) {
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", processors);
    put("/sys/fs/cgroup/memory.max", memory);
    put("/sys/fs/cgroup/pids.max", processes);
  }
  void expect_no_limits(const std::string& why) const {
    const ControlGroup group = read();
    EXPECT_EQ(group.processors, std::nullopt) << why;
    EXPECT_EQ(group.memory_bytes, std::nullopt) << why;
    EXPECT_EQ(group.processes, std::nullopt) << why;
  }
  ControlGroup read() const { return read_control_group(root_); }

 private:
  std::string root_;
};

TEST_F(ControlGroupTest, IsWithoutLimitsWhereThereAreNone) {
  expect_no_limits("there is nothing");
  limit("max 100000\n", "max\n", "max\n");
  expect_no_limits("all are max");
}

TEST_F(ControlGroupTest, ReadsVersion2) {
  limit("150000 100000\n", "536870912\n", "100\n");
  const ControlGroup group = read();
  EXPECT_EQ(group.processors, 1.5);
  EXPECT_EQ(group.memory_bytes, 536870912U);
  EXPECT_EQ(group.processes, 100U);
}

// No limit found is no limit only where they can be seen.
TEST_F(ControlGroupTest, KnowsWhetherLimitsCanBeSeen) {
  EXPECT_FALSE(read().visible);
  put("/proc/self/cgroup", "4:cpu,cpuacct:/\n0::/user\n");
  EXPECT_FALSE(read().visible);  // not mounted
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  EXPECT_TRUE(read().visible);
  put("/proc/self/cgroup", "4:cpu,cpuacct:/\n");
  EXPECT_FALSE(read().visible);
  put("/sys/fs/cgroup/cpuacct/tasks", "");
  EXPECT_TRUE(read().visible);
}

TEST_F(ControlGroupTest, TakesTheLowestOnTheWayUp) {
  put("/proc/self/cgroup", "0::/system.slice/job.scope\n");
  put("/sys/fs/cgroup/system.slice/job.scope/cpu.max", "400000 100000\n");
  put("/sys/fs/cgroup/system.slice/job.scope/memory.max", "1000\n");
  put("/sys/fs/cgroup/system.slice/cpu.max", "200000 100000\n");
  put("/sys/fs/cgroup/system.slice/memory.max", "2000\n");
  const ControlGroup group = read();
  EXPECT_EQ(group.processors, 2.0);
  EXPECT_EQ(group.memory_bytes, 1000U);
}

TEST_F(ControlGroupTest, ReadsVersion1) {
  put("/proc/self/cgroup", "8:pids:/\n4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n");
  put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
  put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/pids/pids.max", "max\n");
  const ControlGroup group = read();
  EXPECT_EQ(group.processors, 0.5);
  EXPECT_EQ(group.memory_bytes, 4096U);
  EXPECT_EQ(group.processes, std::nullopt);
}

// The path of the host is not there inside the container, whose own group is what is mounted.
TEST_F(ControlGroupTest, FindsTheGroupOfAContainerAtTheMount) {
  put("/proc/self/cgroup", "4:memory:/docker/0123\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(read().memory_bytes, 1048576U);
}

TEST_F(ControlGroupTest, TakesWhatItCannotReadAsNoLimit) {
  for (const char* const processors :
       {"", " ", "150000", "150000 0", "x y", "-1 100000", "99999999999999999999 1"}) {
    limit(processors, "12 apples", "-1");
    put("/proc/self/cgroup", "\n:\nno colons\n0:\n:::\n0::relative\n0::/\n");
    expect_no_limits(processors);
  }
}

}  // namespace am::host::control_group_test
