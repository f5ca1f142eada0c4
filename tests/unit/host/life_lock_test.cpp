#include "host/life_lock.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <new>
#include <thread>

namespace am::host::life_lock_test {

class LifeLockTest : public ::testing::Test {
 protected:
  LifeLockTest()
      : lock_(*new (mmap(nullptr, sizeof(LifeLock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0)) LifeLock) {
    lock_.make();
  }
  ~LifeLockTest() override { munmap(&lock_, sizeof lock_); }

  /// How a forked child that does this ends.
  static int status_of(const std::function<void()>& child) {
    const pid_t pid = fork();
    if (pid == 0) {
      child();
      _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
  }

  LifeLock& lock_;
};

TEST_F(LifeLockTest, IsHeldFromTakingToGivingBack) {
  EXPECT_FALSE(lock_.is_held());
  ASSERT_TRUE(lock_.take());
  {
    const Life life(lock_);
    EXPECT_TRUE(lock_.is_held());
    EXPECT_FALSE(lock_.take());
  }
  EXPECT_FALSE(lock_.is_held());
  ASSERT_TRUE(lock_.take());
  lock_.give_back();
}

TEST_F(LifeLockTest, EndsWithItsProcessHoweverThatEnds) {
  EXPECT_EQ(status_of([&] {
              static_cast<void>(lock_.take());
              raise(SIGKILL);
            }),
            SIGKILL);
  EXPECT_FALSE(lock_.is_held());
  EXPECT_FALSE(lock_.take()) << "who has died is not replaced";
  EXPECT_FALSE(lock_.is_held());
  EXPECT_FALSE(lock_.take());
}

TEST_F(LifeLockTest, EndsWithItsThread) {
  std::thread([&] { EXPECT_TRUE(lock_.take()); }).join();
  EXPECT_FALSE(lock_.is_held());
}

TEST_F(LifeLockTest, IsNotAForkedChilds) {
  ASSERT_TRUE(lock_.take());
  EXPECT_EQ(status_of([&] { lock_.give_back(); }), 0);
  EXPECT_TRUE(lock_.is_held());
  lock_.give_back();
  EXPECT_FALSE(lock_.is_held());
}

TEST_F(LifeLockTest, EndsWhenAnotherProgramIsExecuted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    static_cast<void>(lock_.take());
    dup2(ends[1], STDOUT_FILENO);
    execlp("sh", "sh", "-c", "echo here; exec sleep 1000", nullptr);
    _exit(1);
  }
  char here = 0;
  EXPECT_EQ(read(ends[0], &here, 1), 1);
  EXPECT_FALSE(lock_.is_held());
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace am::host::life_lock_test
