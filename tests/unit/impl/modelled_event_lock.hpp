// EventLock (src/core/modes/event_lock.cpp) as a model sees it: the node's thread, which comes and goes, and its events, which
// sleep while it is inside for long. Each access is one step; the case labels say which. For event_lock_model_test.cpp.
//
// What both touch while inside is a plain word: that they are never inside together, and that each sees what the other
// did, shows as a race where it does not hold. The compare-exchange is a read-modify-write that may leave the value: that
// is what it is when it succeeds, and when it fails it changes nothing here that the next visit does not change again.
#pragma once

#include "support/modelled_wake.hpp"

namespace modelled::event_lock {

using test::Access;
using test::Location;
using test::Word;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto seq_cst = std::memory_order_seq_cst;

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

  void step(Access& access, unsigned sleeper) {
    switch (at_) {
      case enter:  // enter: inside = 1
        access.store(inside, 1, relaxed);
        at_ = look;
        break;
      case look:  // enter: word
        at_ = (access.load(word, acquire) & (events_inside | unbiased)) != 0 ? say_so : work;
        break;
      case say_so:  // enter_slowly: inside.exchange(1)
        if (fault_ == Fault::no_own_fence) {
          access.store(inside, 1, relaxed);
        } else {
          access.exchange(inside, 1, seq_cst);
        }
        at_ = look_again;
        break;
      case look_again:  // enter_slowly: word
        seen_ = access.load(word, fault_ == Fault::no_own_fence ? acquire : seq_cst);
        if ((seen_ & events_inside) != 0) {
          met_none_ = 0;
          at_ = wait;
        } else if (++met_none_ < bias_after_) {
          at_ = work;
        } else {
          met_none_ = 0;
          at_ = bias;
        }
        break;
      case wait:  // enter_slowly: while word has events_inside
        if ((access.load(word, acquire) & events_inside) == 0) at_ = work;
        break;
      case bias:  // enter_slowly: word.compare_exchange_strong
        make_biased(access);
        at_ = work;
        break;
      case work:  // inside
        access.write(shared, 1);
        at_ = !attends_ ? leave : fault_ == Fault::late_attention ? ring : take;
        break;
      case take:  // Attendant::attend: take_attention
        access.modify(word, relaxed, [](Word before) { return before & ~attention; });
        at_ = fault_ == Fault::late_attention ? leave : ring;
        break;
      case ring:  // Attendant::attend: HandlerThread::wake
        access.fetch_add(bell, 1, seq_cst);
        at_ = wake;
        break;
      case wake:
        access.futex_wake(sleeper);
        at_ = fault_ == Fault::late_attention ? take : leave;
        break;
      case leave:  // leave: inside = 0
        access.store(inside, 0, fault_ == Fault::leaves_relaxed ? relaxed : release);
        at_ = look_back;
        break;
      case look_back:  // leave: word has attention
        attends_ = (access.load(word, relaxed) & attention) != 0;
        at_ = attends_ || --visits_left_ != 0 ? enter : done;
        if (attends_ && visits_left_ == 0) visits_left_ = 1;
        break;
      case done:
        break;
    }
  }
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

  void step(Access& access) {
    switch (at_) {
      case look:  // try_enter_events: thread_is_inside
        at_ = access.load(inside, relaxed) != 0 ? refused(access) : announce;
        break;
      case announce: {  // try_enter_events: word.fetch_or
        const Word before = access.fetch_or(word, events_inside | unbiased, seq_cst);
        at_ = (before & unbiased) == 0 ? fence : look_again;
        break;
      }
      case fence:  // try_enter_events: process_fence
        modelled::heavy_fence(access, fault_ != Fault::no_heavy_fence);
        at_ = look_again;
        break;
      case look_again:  // try_enter_events: inside
        at_ = access.load(inside, seq_cst) == 0 ? work : retreat;
        break;
      case retreat:  // try_enter_events: word.fetch_and
        access.modify(word, release, [](Word before) { return before & ~events_inside; });
        at_ = refused(access);
        break;
      case work:  // inside
        access.write(shared, 2);
        at_ = leave;
        break;
      case leave:  // leave_events
        access.modify(word, fault_ == Fault::events_relaxed ? relaxed : release,
                      [](Word before) { return before & ~events_inside; });
        at_ = next();
        break;
      case read_bell:  // HandlerThread::wait_for_the_thread
        before_ = access.load(bell, acquire);
        at_ = fault_ == Fault::forgotten_bell ? sleep : ask;
        break;
      case ask:  // ask_for_attention: word.fetch_or
        access.fetch_or(word, attention, seq_cst);
        at_ = ask_fence;
        break;
      case ask_fence:  // ask_for_attention: process_fence
        modelled::heavy_fence(access, fault_ != Fault::light_question);
        at_ = fault_ == Fault::no_second_look ? sleep : ask_look;
        break;
      case ask_look:  // ask_for_attention: inside
        at_ = access.load(inside, acquire) == 0 ? next()
              : fault_ == Fault::forgotten_bell ? read_bell
                                                : sleep;
        break;
      case sleep:  // FUTEX_WAIT on the bell
        access.futex_wait(bell, before_);
        at_ = woken;
        break;
      case woken:
        at_ = next();
        break;
      case done:
        break;
    }
  }
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

  At next() { return --tries_left_ == 0 ? done : look; }
  At refused(Access& access) {
    if (access.choose(2) == 0) return next();
    return fault_ == Fault::forgotten_bell ? ask : read_bell;
  }

  unsigned tries_left_;
  Fault fault_;
  At at_;
  Word before_ = 0;
};

}  // namespace modelled::event_lock
