// A starved sender, every interleaving: it does not sleep for ever while the lines that it waits for are free.
//
// Thread 0 sends and needs one line more each time; thread 1 releases them. The steps are the accesses of Producer,
// Consumer, ShmTransport and Bell, one each; what arming does besides is in doorbell_model_test.cpp. Sleeps
// have no end here.
#include <gtest/gtest.h>

#include <iostream>

#include "support/explorer.hpp"
#include "support/modelled_wake.hpp"

namespace credit_model_test {

using test::Access;
using test::Location;
using test::Memory;
using test::Word;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

enum class Fault {
  none,
  own_fence,     // the sleeper's own full fence instead of the heavy one
  early_fence,   // heavy fence before starved = 1
  no_last_look,  // does not ask for credit after the fence
  asks_first     // the receiver loads `starved` before it publishes
};

enum Words : Location { released, starved, asleep };

class CreditModel {
 public:
  CreditModel(Word lines, Fault fault)
      : lines_(lines), fault_(fault), receiver_(fault == Fault::asks_first ? ask : publish) {}

  [[nodiscard]] bool runs(unsigned thread) const {
    return thread == 0 ? !good_end() : published_ < lines_ || !idle_;
  }
  [[nodiscard]] bool good_end() const { return sent_ == lines_; }

  void step(unsigned thread, Access& access) {
    if (thread == 0) {
      send(access);
    } else {
      hand_back(access);
    }
  }
  void fold(test::Digest& digest) const {
    digest.add(sent_ << 8 | published_);
    digest.add(sender_ | receiver_ << 8 | wake_.state() << 16 | (idle_ ? 1u << 24 : 0) |
               (starving_ ? 1u << 25 : 0));
  }

 private:
  enum Sender : unsigned { claim, sleepy, starve, fence, last_look, sleep, wake_up, sated };
  enum Receiver : unsigned { publish, ask, wake };

  void send(Access& access) {
    switch (sender_) {
      case claim:  // Producer::refresh: released.load(acquire)
        if (access.load(released, acquire) > sent_) {
          ++sent_;
        } else if (access.choose(2) == 1) {  // the patience ends
          sender_ = sleepy;
        }
        break;
      case sleepy:  // Engine::arm: Bell::set: alarm.store(sleeper, relaxed)
        access.store(asleep, 1, relaxed);
        sender_ = fault_ == Fault::early_fence ? fence : starve;
        break;
      case starve:  // set_starved: starved.store(1, relaxed)
        access.store(starved, 1, relaxed);
        sender_ = fault_ == Fault::early_fence ? last_look : fence;
        break;
      case fence:  // ShmTransport::arm: heavy_fence()
        modelled::heavy_fence(access, fault_ != Fault::own_fence);
        sender_ = fault_ == Fault::early_fence ? starve : fault_ == Fault::no_last_look ? sleep : last_look;
        break;
      case last_look:  // credit_came: has_room: refresh: released.load(acquire)
        sender_ = access.load(released, acquire) > sent_ ? wake_up : sleep;
        break;
      case sleep:  // Bell::sleep: futex(FUTEX_WAIT, sleeper)
        access.futex_wait(asleep, 1);
        sender_ = wake_up;
        break;
      case wake_up:  // Bell::clear: alarm.store(none, relaxed)
        access.store(asleep, 0, relaxed);
        sender_ = sated;
        break;
      case sated:  // set_starved: starved.store(0, relaxed)
        access.store(starved, 0, relaxed);
        sender_ = claim;
        break;
    }
  }

  void hand_back(Access& access) {
    idle_ = false;
    switch (receiver_) {
      case publish:  // Consumer::publish: released.store(release)
        access.store(released, ++published_, release);
        receiver_ = fault_ == Fault::asks_first ? told() : ask;
        break;
      case ask:  // publish: starved.load(relaxed)
        starving_ = access.load(starved, relaxed) != 0;
        receiver_ = fault_ == Fault::asks_first ? publish : told();
        break;
      case wake:  // Inbox::release: host::wake(from)
        if (wake_.step(access, asleep, 0)) receiver_ = next();
        break;
    }
  }
  Receiver told() { return starving_ ? wake : next(); }
  Receiver next() {
    idle_ = true;
    return fault_ == Fault::asks_first ? ask : publish;
  }

  Word lines_;
  Fault fault_;
  Sender sender_ = claim;
  Receiver receiver_;
  Word sent_ = 0, published_ = 0;
  bool idle_ = true;  // the receiver is between two releases
  bool starving_ = false;
  modelled::Wake wake_;
};

test::Verdict explore_credit(Word lines, Fault fault) {
  return test::explore(CreditModel(lines, fault), Memory(2, {{"released"}, {"starved"}, {"asleep"}}));
}

class Credit : public testing::TestWithParam<Word> {};

TEST_P(Credit, WakesTheStarvedSender) {
  const test::Verdict verdict = explore_credit(GetParam(), Fault::none);
  std::cout << verdict << "\n";
  EXPECT_TRUE(verdict.holds) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Lines, Credit, testing::Values(1, 2, 4));

class BrokenCredit : public testing::TestWithParam<Fault> {};

TEST_P(BrokenCredit, LosesAWakeUp) {
  const test::Verdict verdict = explore_credit(2, GetParam());
  EXPECT_NE(verdict.why.find("no good end"), std::string::npos) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Faults, BrokenCredit,
                         testing::Values(Fault::own_fence, Fault::early_fence, Fault::no_last_look,
                                         Fault::asks_first));

}  // namespace credit_model_test
