// Doorbells, sleep and wake, every interleaving: no receiver sleeps for ever while a packet waits for it. Each access of Inbox,
// ShmTransport and Bell that has to do with doorbells, cooling and sleep is one step; the case labels say which.
//
// A ring is here the number of packets committed to it (what it is besides: unit/impl/ring_model_test.cpp). Sleeps
// have no end, and no cold ring is looked at in rotation: both would hide a lost wake-up. One priority, and all packets
// are wanted.
#include <gtest/gtest.h>

#include <bit>
#include <iostream>
#include <string>
#include <vector>

#include "support/explorer.hpp"
#include "support/modelled_wake.hpp"

namespace doorbell_model_test {

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
  early_fence,   // heavy fence before asleep = 1
  stays_hot,     // no cool_all before the fence
  no_last_look,  // does not look everywhere after the fence
  asks_first     // a sender loads `watched` before it commits
};

enum Words : Location { doorbell, summary, asleep, rings };  // then, by sender, its ring and its `watched`
constexpr Location ring(unsigned sender) { return static_cast<Location>(rings + 2 * sender); }
constexpr Location watched(unsigned sender) { return static_cast<Location>(rings + 2 * sender + 1); }
constexpr unsigned bit(unsigned sender) { return 1u << sender; }

/// Thread 0 receives, the others send.
class Receiver {
 public:
  Receiver(unsigned senders, Fault fault) : senders_(senders), fault_(fault) {}

  void step(Access& access) {
    switch (at_) {
      case look:  // Inbox::look: summary_->load(relaxed)
        at_ = access.load(summary, relaxed) != 0 ? answer : round;
        break;
      case answer:  // Inbox::answer_doorbells: summary_->exchange(0, acquire)
        if (access.exchange(summary, 0, acquire) != 0) {
          found_ = true;
          at_ = answer_word;
        } else {
          at_ = parking_ ? look_all : round;
        }
        break;
      case answer_word:  // answer_doorbells: doorbells[word].exchange(0, acquire); connect
        to_warm_ = static_cast<unsigned>(access.exchange(doorbell, 0, acquire));
        connected_ |= to_warm_;
        to_warm_ &= ~hot_;
        if (to_warm_ == 0)
          after_warm();
        else
          at_ = warm;
        break;
      case warm:  // Inbox::warm: watched.store(1, relaxed)
        warm_one(access);
        if (to_warm_ == 0) after_warm();
        break;
      case round:  // Inbox::receive, of one hot ring: header.load(acquire)
        receive(access);
        break;
      case cool:  // Inbox::cool_all: watched.store(0, relaxed); Inbox::cool is the same for one
        cool_one(access);
        if (hot_ == 0) at_ = after_cool();
        break;
      case cool_idle:
        cool_one(access);
        at_ = look;
        break;
      case sleepy:  // Engine::arm: Bell::set: alarm.store(sleeper, relaxed)
        access.store(asleep, 1, relaxed);
        at_ = fault_ == Fault::early_fence ? last_look() : fence;
        break;
      case fence:  // ShmTransport::arm: heavy_fence()
        modelled::heavy_fence(access, fault_ != Fault::own_fence);
        found_ = false;
        looked_ = 0;
        at_ = fault_ == Fault::early_fence ? sleepy : last_look();
        break;
      case look_all:  // Inbox::look_everywhere: receive of every connected ring
        look_everywhere(access);
        break;
      case warm_found:  // look_everywhere: warm
        warm_one(access);
        at_ = look_all;
        break;
      case sleep:  // Bell::sleep: futex(FUTEX_WAIT, sleeper)
        access.futex_wait(asleep, 1);
        at_ = wake_up;
        break;
      case wake_up:  // Bell::clear: alarm.store(none, relaxed)
        access.store(asleep, 0, relaxed);
        parking_ = false;
        begin_round();
        at_ = look;
        break;
    }
  }

  [[nodiscard]] unsigned received(unsigned sender) const { return received_[sender]; }
  void fold(test::Digest& digest) const {
    digest.add(at_ | (parking_ ? 32u : 0) | (found_ ? 64u : 0) | (got_ ? 128u : 0) | visited_ << 8 |
               looked_ << 12);
    digest.add(hot_ | connected_ << 4 | to_warm_ << 8);
    digest.add(received_[0] | received_[1] << 8);
  }

 private:
  enum At : unsigned {
    look,
    answer,
    answer_word,
    warm,
    round,
    cool,
    cool_idle,
    sleepy,
    fence,
    look_all,
    warm_found,
    sleep,
    wake_up
  };

  [[nodiscard]] At after_cool() const { return fault_ == Fault::early_fence ? fence : sleepy; }
  void begin_round() { visited_ = 0, got_ = false; }
  void after_warm() { at_ = parking_ ? look_all : round; }
  [[nodiscard]] At last_look() const { return fault_ == Fault::no_last_look ? sleep : answer; }
  void warm_one(Access& access) {
    const auto sender = static_cast<unsigned>(std::countr_zero(to_warm_));
    access.store(watched(sender), 1, relaxed);
    to_warm_ &= ~bit(sender);
    hot_ |= bit(sender);
  }
  void cool_one(Access& access) {
    const auto sender = static_cast<unsigned>(std::countr_zero(hot_));
    access.store(watched(sender), 0, relaxed);
    hot_ &= ~bit(sender);
  }
  /// The next hot ring, until all were found empty. Then the patience ends, or not yet, or a ring that was idle for
  /// long is cooled.
  void receive(Access& access) {
    while (visited_ < senders_ && (hot_ & bit(visited_)) == 0) ++visited_;
    if (visited_ < senders_) {
      if (access.load(ring(visited_), acquire) > received_[visited_]) {
        ++received_[visited_];
        got_ = true;
      } else {
        ++visited_;
      }
      return;
    }
    const bool idle = !got_;
    begin_round();
    found_ = false;
    at_ = look;
    if (!idle) return;
    switch (access.choose(hot_ != 0 ? 3 : 2)) {
      case 0:
        return;
      case 1:
        parking_ = true;
        at_ = hot_ != 0 && fault_ != Fault::stays_hot ? cool : after_cool();
        return;
      default:
        at_ = cool_idle;
    }
  }
  void look_everywhere(Access& access) {
    while (looked_ < senders_ && (connected_ & bit(looked_)) == 0) ++looked_;
    if (looked_ == senders_) {
      at_ = found_ ? wake_up : sleep;
      return;
    }
    const unsigned sender = looked_++;
    if (access.load(ring(sender), acquire) <= received_[sender]) return;
    found_ = true;
    if ((hot_ & bit(sender)) != 0) return;
    to_warm_ = bit(sender);
    at_ = warm_found;
  }

  unsigned senders_;
  Fault fault_;
  At at_ = look;
  bool parking_ = false;
  bool found_ = false;  // by the last look before sleeping
  bool got_ = false;    // something in this round
  unsigned visited_ = 0, looked_ = 0, hot_ = 0, connected_ = 0, to_warm_ = 0;
  unsigned received_[2] = {};
};

/// ShmTransport::commit, and ring_doorbell.
class Sender {
 public:
  Sender(unsigned packets, Fault fault) : at_(fault == Fault::asks_first ? ask : commit), left_(packets) {}
  [[nodiscard]] bool runs() const { return left_ != 0; }
  [[nodiscard]] unsigned sent() const { return sent_; }

  void step(Access& access, unsigned self, Fault fault) {
    switch (at_) {
      case commit:  // Producer::commit: header.store(release)
        access.store(ring(self), ++sent_, release);
        at_ = fault == Fault::asks_first ? answered() : ask;
        break;
      case ask:  // Producer::watched: load(relaxed)
        watched_ = access.load(watched(self), relaxed) != 0;
        at_ = fault == Fault::asks_first ? commit : answered();
        break;
      case load_bit:  // ring_doorbell: word.load(relaxed)
        at_ = set_bit;
        if ((access.load(doorbell, relaxed) & bit(self)) != 0) at_ = wake;
        break;
      case set_bit:  // ring_doorbell: word.fetch_or(bit, release)
        access.fetch_or(doorbell, bit(self), release);
        at_ = set_summary;
        break;
      case set_summary:  // ring_doorbell: doorbell_summary.fetch_or(release)
        access.fetch_or(summary, 1, release);
        at_ = wake;
        break;
      case wake:  // ring_doorbell: memory_->wake(to)
        if (wake_.step(access, asleep, 0)) at_ = end;
        break;
      case end:
        break;
    }
    if (at_ != end) return;
    --left_;
    at_ = fault == Fault::asks_first ? ask : commit;
  }
  void fold(test::Digest& digest) const {
    digest.add(at_ | (watched_ ? 16u : 0) | wake_.state() << 8 | left_ << 16 | sent_ << 24);
  }

 private:
  enum At : unsigned { commit, ask, load_bit, set_bit, set_summary, wake, end };
  [[nodiscard]] At answered() const { return watched_ ? end : load_bit; }

  At at_;
  bool watched_ = false;
  unsigned left_, sent_ = 0;
  modelled::Wake wake_;
};

using Traffic = std::vector<unsigned>;  // packets, by sender

class DoorbellModel {
 public:
  DoorbellModel(const Traffic& traffic, Fault fault)
      : fault_(fault), receiver_(static_cast<unsigned>(traffic.size()), fault) {
    for (const unsigned packets : traffic) senders_.emplace_back(packets, fault);
  }
  [[nodiscard]] bool runs(unsigned thread) const {
    return thread == 0 ? !good_end() : senders_[thread - 1].runs();
  }
  [[nodiscard]] bool good_end() const {
    for (unsigned s = 0; s < senders_.size(); ++s) {
      if (senders_[s].runs() || receiver_.received(s) != senders_[s].sent()) return false;
    }
    return true;
  }
  void step(unsigned thread, Access& access) {
    if (thread == 0) {
      receiver_.step(access);
    } else {
      senders_[thread - 1].step(access, thread - 1, fault_);
    }
  }
  void fold(test::Digest& digest) const {
    receiver_.fold(digest);
    for (const Sender& sender : senders_) sender.fold(digest);
  }

 private:
  Fault fault_;
  Receiver receiver_;
  std::vector<Sender> senders_;
};

test::Verdict explore_doorbells(const Traffic& traffic, Fault fault) {
  std::vector<Memory::Declaration> words{{"doorbell"}, {"summary"}, {"asleep"}};
  for (unsigned s = 0; s < traffic.size(); ++s) {
    words.push_back({"ring " + std::to_string(s)});
    words.push_back({"watched " + std::to_string(s)});
  }
  return test::explore(DoorbellModel(traffic, fault), Memory(1 + traffic.size(), words));
}

class Doorbells : public testing::TestWithParam<Traffic> {};

TEST_P(Doorbells, WakeWhoeverSleeps) {
  const test::Verdict verdict = explore_doorbells(GetParam(), Fault::none);
  std::cout << verdict << "\n";
  EXPECT_TRUE(verdict.holds) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Senders, Doorbells,
                         testing::Values(Traffic{1}, Traffic{2}, Traffic{3}, Traffic{1, 1}));

class BrokenDoorbells : public testing::TestWithParam<Fault> {};

TEST_P(BrokenDoorbells, LoseAWakeUp) {
  const test::Verdict verdict = explore_doorbells({2}, GetParam());
  EXPECT_NE(verdict.why.find("no good end"), std::string::npos) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Faults, BrokenDoorbells,
                         testing::Values(Fault::own_fence, Fault::early_fence, Fault::stays_hot,
                                         Fault::no_last_look, Fault::asks_first));

}  // namespace doorbell_model_test
