// The lock between a node's thread and its events (include/am/impl/event_lock.hpp), in every order that a weak memory
// allows: never both inside, each sees what the other did, and no attention that was asked for is lost. And that the
// check can tell: what stands in the lock's way must be found out.
//
// EventLock (src/core/modes/event_lock.cpp) as a model sees it: the node's thread, which comes and goes, and its events, which
// sleep while it is inside for long. Each access is one step; the case labels say which. What both touch while inside is a
// plain word: that they are never inside together, and that each sees what the other did, shows as a race where it does
// not hold. The compare-exchange is a read-modify-write that may leave the value: that is what it is when it succeeds, and
// when it fails it changes nothing here that the next visit does not change again.

#include "support/explorer.hpp"
#include "support/modelled_wake.hpp"

namespace event_lock_model_test {

using namespace test;

using enum std::memory_order;

constexpr Word events_inside = 1;
constexpr Word unbiased = 2;
constexpr Word attention = 4;

enum class Fault {
  none,
  no_heavy_fence,  // events that find the lock biased pass their own fence only
  no_own_fence,    // the thread enters an unbiased lock with a store
  blind_bias,      // the thread makes it biased by a store, whoever is inside
  light_question,  // ask_for_attention passes its own fence only
  no_second_look,  // ask_for_attention does not look whether the thread is still inside
  forgotten_bell,  // events read the bell after they have asked
  late_attention,  // the thread takes the attention when it has done what it asks for
  leaves_relaxed,  // R1 is no release
  events_relaxed   // R2 is no release
};

enum Words : Location { inside, word, bell, shared };

/// Enters and leaves `visits` times, and again whenever somebody wants attention.
class Thread {
 public:
  Thread(unsigned visits, unsigned bias_after, Fault fault)
      : visits_left_(visits), bias_after_(bias_after), fault_(fault), at_(visits == 0 ? done : enter) {}

  void step(Access& access, unsigned sleeper) { at_ = next(access, sleeper); }
  [[nodiscard]] bool has_ended() const { return at_ == done; }
  void fold(test::Digest& digest) const {
    digest.add(at_ | visits_left_ << 8 | met_none_ << 16 | (attends_ ? 1u << 24 : 0) | seen_ << 32);
  }

 private:
  enum At : unsigned {
    enter,
    look,
    say_so,
    look_again,
    wait,
    bias,
    work,
    take,
    ring,
    wake,
    leave,
    look_back,
    done
  };

  At next(Access& access, unsigned sleeper) {
    switch (at_) {
      case enter:  // enter: inside = 1
        access.store(inside, 1, relaxed);
        return look;
      case look:  // enter: word
        return (access.load(word, acquire) & (events_inside | unbiased)) != 0 ? say_so : work;
      case say_so:  // enter_slowly: inside.exchange(1)
        if (fault_ == Fault::no_own_fence) {
          access.store(inside, 1, relaxed);
        } else {
          access.exchange(inside, 1, seq_cst);
        }
        return look_again;
      case look_again:  // enter_slowly: word
        seen_ = access.load(word, fault_ == Fault::no_own_fence ? acquire : seq_cst);
        if ((seen_ & events_inside) == 0 && ++met_none_ < bias_after_) return work;
        met_none_ = 0;
        return (seen_ & events_inside) != 0 ? wait : bias;
      case wait:  // enter_slowly: while word has events_inside
        return (access.load(word, acquire) & events_inside) != 0 ? wait : work;
      case bias:  // enter_slowly: word.compare_exchange_strong
        make_biased(access);
        return work;
      case work:  // inside
        access.write(shared, 1);
        return !attends_ ? leave : fault_ == Fault::late_attention ? ring : take;
      case take:  // Attendant::attend: take_attention
        access.modify(word, relaxed, [](Word before) { return before & ~attention; });
        return fault_ == Fault::late_attention ? leave : ring;
      case ring:  // Attendant::attend: HandlerThread::wake
        access.fetch_add(bell, 1, seq_cst);
        return wake;
      case wake:
        access.futex_wake(sleeper);
        return fault_ == Fault::late_attention ? take : leave;
      case leave:  // leave: inside = 0
        access.store(inside, 0, fault_ == Fault::leaves_relaxed ? relaxed : release);
        return look_back;
      case look_back:  // leave: word has attention
        attends_ = (access.load(word, relaxed) & attention) != 0;
        return attends_ || --visits_left_ != 0 ? enter : done;
      case done:
        break;
    }
    return done;
  }

  void make_biased(Access& access) {
    const Word made = seen_ & attention;
    if (fault_ == Fault::blind_bias) return access.store(word, made, release);
    access.modify(word, seq_cst, [=](Word before) { return before == (made | unbiased) ? made : before; });
  }

  unsigned visits_left_;
  unsigned bias_after_;
  Fault fault_;
  At at_;
  unsigned met_none_ = 0;
  bool attends_ = false;
  Word seen_ = 0;
};

/// Tries to enter, and asks and sleeps when it cannot, or comes again. Ends when it has tried so many times.
class Events {
 public:
  Events(unsigned tries, Fault fault) : tries_left_(tries), fault_(fault), at_(tries == 0 ? done : look) {}

  void step(Access& access) { at_ = next(access); }
  [[nodiscard]] bool has_ended() const { return at_ == done; }
  void fold(test::Digest& digest) const { digest.add(at_ | tries_left_ << 8 | before_ << 16); }

 private:
  enum At : unsigned {
    look,
    announce,
    fence,
    look_again,
    retreat,
    work,
    leave,
    read_bell,
    ask,
    ask_fence,
    ask_look,
    sleep,
    woken,
    done
  };

  At next(Access& access) {
    switch (at_) {
      case look:  // try_enter_events: thread_is_inside
        return access.load(inside, relaxed) != 0 ? refused(access) : announce;
      case announce: {  // try_enter_events: word.fetch_or
        const Word before = access.fetch_or(word, events_inside | unbiased, seq_cst);
        return (before & unbiased) == 0 ? fence : look_again;
      }
      case fence:  // try_enter_events: process_fence
        modelled::heavy_fence(access, fault_ != Fault::no_heavy_fence);
        return look_again;
      case look_again:  // try_enter_events: inside
        return access.load(inside, seq_cst) == 0 ? work : retreat;
      case retreat:  // try_enter_events: word.fetch_and
        access.modify(word, release, [](Word before) { return before & ~events_inside; });
        return refused(access);
      case work:  // inside
        access.write(shared, 2);
        return leave;
      case leave:  // leave_events
        access.modify(word, fault_ == Fault::events_relaxed ? relaxed : release,
                      [](Word before) { return before & ~events_inside; });
        return another();
      case read_bell:  // HandlerThread::wait_for_the_thread
        before_ = access.load(bell, acquire);
        return fault_ == Fault::forgotten_bell ? sleep : ask;
      case ask:  // ask_for_attention: word.fetch_or
        access.fetch_or(word, attention, seq_cst);
        return ask_fence;
      case ask_fence:  // ask_for_attention: process_fence
        modelled::heavy_fence(access, fault_ != Fault::light_question);
        return fault_ == Fault::no_second_look ? sleep : ask_look;
      case ask_look:  // ask_for_attention: inside
        return access.load(inside, acquire) == 0 ? another()
               : fault_ == Fault::forgotten_bell ? read_bell
                                                 : sleep;
      case sleep:  // FUTEX_WAIT on the bell
        access.futex_wait(bell, before_);
        return woken;
      case woken:
        return another();
      case done:
        break;
    }
    return done;
  }

  At another() { return --tries_left_ == 0 ? done : look; }
  At refused(Access& access) {
    if (access.choose(2) == 0) return another();
    return fault_ == Fault::forgotten_bell ? ask : read_bell;
  }

  unsigned tries_left_;
  Fault fault_;
  At at_;
  Word before_ = 0;
};

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
  void step(unsigned thread, Access& access) { thread == 0 ? thread_.step(access, 1) : events_.step(access); }
  void fold(test::Digest& digest) const {
    thread_.fold(digest);
    events_.fold(digest);
  }

 private:
  Thread thread_;
  Events events_;
};

test::Verdict explore_lock(const Course& course, Fault fault) {
  const Word initial = course.biased ? 0 : unbiased;
  return test::explore(EventLockModel(course, fault),
                       test::Memory(2, {{"inside"},
                                        {.name = "word", .initial = initial},
                                        {"bell"},
                                        {.name = "shared", .kind = test::Memory::Kind::content}}));
}

class EventLocks : public testing::TestWithParam<Course> {};

TEST_P(EventLocks, ExcludeAndLoseNoAttention) { expect_holds(explore_lock(GetParam(), Fault::none)); }

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
  expect_refuted(explore_lock(course, fault), how);
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
