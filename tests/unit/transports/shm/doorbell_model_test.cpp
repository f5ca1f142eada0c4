// Doorbells, sleep and wake, every interleaving: no receiver sleeps for ever while a packet waits for it. The model's
// steps are in modelled_doorbell.hpp.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "support/explorer.hpp"
#include "unit/transports/shm/modelled_doorbell.hpp"

namespace doorbell_model_test {

using modelled::shm::Fault;
using modelled::shm::Receiver;
using modelled::shm::Sender;
using test::Access;
using test::Memory;

struct Traffic {
  std::vector<unsigned> packets;  // by sender
};

class DoorbellModel {
 public:
  DoorbellModel(const Traffic& traffic, Fault fault)
      : fault_(fault), receiver_(static_cast<unsigned>(traffic.packets.size()), fault) {
    for (const unsigned packets : traffic.packets) senders_.emplace_back(packets, fault);
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
  for (unsigned s = 0; s < traffic.packets.size(); ++s) {
    words.push_back({"ring " + std::to_string(s)});
    words.push_back({"watched " + std::to_string(s)});
  }
  return test::explore(DoorbellModel(traffic, fault), Memory(1 + traffic.packets.size(), words));
}

class Doorbells : public testing::TestWithParam<Traffic> {};

TEST_P(Doorbells, WakeWhoeverSleeps) {
  const test::Verdict verdict = explore_doorbells(GetParam(), Fault::none);
  std::cout << verdict << "\n";
  EXPECT_TRUE(verdict.holds) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Senders, Doorbells,
                         testing::Values(Traffic{{1}}, Traffic{{2}}, Traffic{{3}}, Traffic{{1, 1}}));

class BrokenDoorbells : public testing::TestWithParam<Fault> {};

TEST_P(BrokenDoorbells, LoseAWakeUp) {
  const test::Verdict verdict = explore_doorbells({{2}}, GetParam());
  EXPECT_NE(verdict.why.find("no good end"), std::string::npos) << verdict;
}

INSTANTIATE_TEST_SUITE_P(Faults, BrokenDoorbells,
                         testing::Values(Fault::own_fence, Fault::early_fence, Fault::stays_hot,
                                         Fault::no_last_look, Fault::asks_first));

}  // namespace doorbell_model_test
