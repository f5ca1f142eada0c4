// The lock between a node's thread and its events (include/am/impl/event_lock.hpp), in every order that a weak memory
// allows: never both inside, each sees what the other did, and no attention that was asked for is lost. And that the
// check can tell: what stands in the lock's way must be found out.
#include <gtest/gtest.h>

#include <iostream>
#include <ostream>

#include "support/explorer.hpp"
#include "unit/impl/modelled_event_lock.hpp"

namespace event_lock_model_test {

using modelled::event_lock::Events;
using modelled::event_lock::Fault;
using modelled::event_lock::Thread;
using test::Access;

struct Course {
  unsigned visits = 1;
  unsigned tries = 1;
  unsigned bias_after = 1;
  bool biased = false;  // at the start

  friend void PrintTo(const Course& course, std::ostream* out) {
    *out << course.visits << " visits, " << course.tries << " tries, biased after " << course.bias_after
         << (course.biased ? ", and at the start" : "");
  }
};

/// Thread 0 is the node's own, thread 1 runs its events.
class EventLockModel {
 public:
  EventLockModel(const Course& course, Fault fault)
      : thread_(course.visits, course.bias_after, fault), events_(course.tries, fault) {}

  [[nodiscard]] bool runs(unsigned thread) const {
    return thread == 0 ? !thread_.has_ended() : !events_.has_ended();
  }
  [[nodiscard]] bool good_end() const { return thread_.has_ended() && events_.has_ended(); }
  void step(unsigned thread, Access& access) {
    if (thread == 0) {
      thread_.step(access, 1);
    } else {
      events_.step(access);
    }
  }
  void fold(test::Digest& digest) const {
    thread_.fold(digest);
    events_.fold(digest);
  }

 private:
  Thread thread_;
  Events events_;
};

test::Verdict explore_lock(const Course& course, Fault fault) {
  const test::Word initial = course.biased ? 0 : modelled::event_lock::unbiased;
  return test::explore(EventLockModel(course, fault),
                       test::Memory(2, {{"inside"},
                                        {.name = "word", .initial = initial},
                                        {"bell"},
                                        {.name = "shared", .kind = test::Memory::Kind::content}}));
}

class EventLocks : public testing::TestWithParam<Course> {};

TEST_P(EventLocks, ExcludeAndLoseNoAttention) {
  const test::Verdict verdict = explore_lock(GetParam(), Fault::none);
  std::cout << verdict << "\n";
  EXPECT_TRUE(verdict.holds) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Courses, EventLocks,
                         testing::Values(Course{1, 1, 1}, Course{2, 2, 1}, Course{3, 2, 1},
                                         Course{2, 2, 1, true}, Course{3, 2, 2}, Course{3, 3, 2, true},
                                         Course{4, 2, 2}));

struct Broken {
  Fault fault;
  Course course;
  const char* how;  // it fails
};

class BrokenEventLocks : public testing::TestWithParam<Broken> {};

TEST_P(BrokenEventLocks, AreFoundOut) {
  const auto [fault, course, how] = GetParam();
  const test::Verdict verdict = explore_lock(course, fault);
  EXPECT_NE(verdict.why.find(how), std::string::npos) << verdict;
}

constexpr const char* both = "race";
constexpr const char* lost = "no good end";
INSTANTIATE_TEST_SUITE_P(Faults, BrokenEventLocks,
                         testing::Values(Broken{Fault::no_heavy_fence, {1, 1, 1, true}, both},
                                         Broken{Fault::no_own_fence, {1, 1, 2}, both},
                                         Broken{Fault::blind_bias, {3, 2, 1}, both},
                                         Broken{Fault::light_question, {1, 1, 1, true}, lost},
                                         Broken{Fault::no_second_look, {1, 1, 1}, lost},
                                         Broken{Fault::forgotten_bell, {1, 1, 1}, lost},
                                         Broken{Fault::late_attention, {2, 2, 1}, lost},
                                         Broken{Fault::leaves_relaxed, {1, 1, 1}, both},
                                         Broken{Fault::events_relaxed, {1, 1, 1}, both}));

}  // namespace event_lock_model_test
