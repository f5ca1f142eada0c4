// Threads that go on a step at a time, as a test wants it: each waits before every access to what it shares with others, or ends there.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace test {

/// Runs programs a step at a time: each is a thread that waits before each access until it may go on. Killed ones never do.
class Steps {
 public:
  struct Killed {};
  class One {
   public:
    explicit One(std::function<void(One&)> program)
        : thread_([this, program = std::move(program)] {
            try {
              begin();
              program(*this);
            } catch (const Killed&) {
            }
            const std::lock_guard lock(mutex_);
            ended_ = true;
            may_ = 0;
            changed_.notify_all();
          }) {}
    ~One() { kill(); }
    /// n accesses, or all. False when it has ended.
    bool go(unsigned n) {
      std::unique_lock lock(mutex_);
      may_ = n;
      changed_.notify_all();
      changed_.wait(lock, [this] { return may_ == 0 || ended_; });
      return !ended_;
    }
    void finish() {
      while (go(1'000'000)) {
      }
    }
    void kill() {
      {
        const std::lock_guard lock(mutex_);
        killed_ = true;
        changed_.notify_all();
      }
      if (thread_.joinable()) thread_.join();
    }
    void wait() {
      std::unique_lock lock(mutex_);
      if (--may_ == 0) changed_.notify_all();
      until_it_may(lock);
    }

   private:
    void begin() {
      std::unique_lock lock(mutex_);
      until_it_may(lock);
    }
    void until_it_may(std::unique_lock<std::mutex>& lock) {
      changed_.wait(lock, [this] { return may_ != 0 || killed_; });
      if (killed_) throw Killed{};
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    unsigned may_ = 0;
    bool killed_ = false;
    bool ended_ = false;
    std::jthread thread_;
  };
};

/// What such a program calls before each access; one that is nobody's does not wait.
struct Stops {
  Steps::One* one = nullptr;
  void operator()() const {
    if (one != nullptr) one->wait();
  }
};
/// Kills a program that has no thread of its own, before the first access at which that is so. Who runs it catches Steps::Killed.
template <class Is>
struct EndsWhen {
  Is is;
  void operator()() const {
    if (is()) throw Steps::Killed{};
  }
};

/// How many accesses a program makes that nobody disturbs.
inline unsigned accesses_of(std::function<void(Steps::One&)> program) {
  Steps::One one(std::move(program));
  unsigned n = 0;
  while (one.go(1)) ++n;
  return n;
}
/// Once for each access before which whoever is stopped may be, until it has ended, which `round` says.
template <class Round>
void at_each_access(Round round) {
  bool ended = false;
  for (unsigned at = 1; !ended && !testing::Test::HasFailure(); ++at) {
    SCOPED_TRACE(at);
    round(at, ended);
  }
}
/// The same for two of them: each pair of accesses.
template <class Round>
void at_each_two_accesses(Round round) {
  at_each_access([&](unsigned first_at, bool& first_ended) {
    at_each_access([&](unsigned second_at, bool& second_ended) {
      round(first_at, first_ended, second_at, second_ended);
    });
  });
}
/// Before each of so many accesses of one, and before some of another's: by a seed.
template <class Round>
void at_some_two_accesses(unsigned of_one, unsigned of_other, std::uint64_t apart, Random& random,
                          Round round) {
  for (unsigned at = 1; at <= of_one; ++at) {
    for (unsigned other = 1; other <= of_other; other += 1 + static_cast<unsigned>(random.below(apart))) {
      SCOPED_TRACE(at);
      SCOPED_TRACE(other);
      round(at, other);
      if (testing::Test::HasFailure()) return;
    }
  }
}
/// All go on in any order, at most so many accesses at a time; `seen` after each turn.
template <class Seen = void (*)()>
void finish_in_any_order(
    std::deque<Steps::One>& all, Random& random, std::uint64_t most, Seen seen = [] {}) {
  std::vector<Steps::One*> running;
  for (Steps::One& one : all) running.push_back(&one);
  while (!running.empty()) {
    const auto which = static_cast<std::ptrdiff_t>(random.below(running.size()));
    if (!running[static_cast<std::size_t>(which)]->go(1 + static_cast<unsigned>(random.below(most))))
      running.erase(running.begin() + which);
    seen();
  }
}
/// Two that were stopped go on in either order, before or after `others` do all; or one is killed.
template <class Others>
void finish_somehow(Steps::One& a, Steps::One& b, Random& random, Others others) {
  const std::uint64_t way = random.below(4);
  const bool others_first = way < 2;
  if (others_first) others();
  if (way == 0) a.finish();
  if (way == 3) a.kill();
  b.finish();
  a.finish();  // unless it has ended
  if (!others_first) others();
}

}  // namespace test
