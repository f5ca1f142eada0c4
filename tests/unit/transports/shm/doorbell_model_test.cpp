// Sleep and wake, every interleaving: no receiver sleeps for ever while a packet waits for it, and no starved sender while the
// lines that it waits for are free. Each access of Inbox, ShmTransport, Producer, Consumer and Bell that has to do with it is one
// step; the case labels say which. Sleeps have no end here.

#include <bit>

#include "support/explorer.hpp"
#include "support/modelled_wake.hpp"

namespace doorbell_model_test {

using namespace test;

using enum std::memory_order;

// -- doorbells ----------------------------------------------------------------------------------------------------------------
//
// A ring is here the number of packets committed to it (what it is besides: unit/impl/ring_model_test.cpp). No cold ring is
// looked at in rotation: that would hide a lost wake-up. One priority, and all packets are wanted.

namespace doorbells {

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

TEST(Doorbells, WakeWhoeverSleeps) {
  for (const Traffic& traffic : {Traffic{1}, Traffic{2}, Traffic{3}, Traffic{1, 1}}) {
    SCOPED_TRACE(std::to_string(traffic.front()) + " packets of " + std::to_string(traffic.size()));
    expect_holds(explore_doorbells(traffic, Fault::none));
  }
}

TEST(BrokenDoorbells, LoseAWakeUp) {
  for (const Fault fault :
       {Fault::own_fence, Fault::early_fence, Fault::stays_hot, Fault::no_last_look, Fault::asks_first}) {
    SCOPED_TRACE(static_cast<int>(fault));
    expect_refuted(explore_doorbells({2}, fault), "no good end");
  }
}

}  // namespace doorbells

// -- credit -------------------------------------------------------------------------------------------------------------------
//
// Thread 0 sends and needs one line more each time; thread 1 releases them. What arming does besides is above.

namespace credit {

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

TEST(Credit, WakesTheStarvedSender) {
  for (const Word lines : {1, 2, 4}) {
    SCOPED_TRACE(std::to_string(lines) + " lines");
    expect_holds(explore_credit(lines, Fault::none));
  }
}

TEST(BrokenCredit, LosesAWakeUp) {
  for (const Fault fault : {Fault::own_fence, Fault::early_fence, Fault::no_last_look, Fault::asks_first}) {
    SCOPED_TRACE(static_cast<int>(fault));
    expect_refuted(explore_credit(2, fault), "no good end");
  }
}

}  // namespace credit

}  // namespace doorbell_model_test
