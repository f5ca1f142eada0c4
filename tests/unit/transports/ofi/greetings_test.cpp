// How two nodes come to know each other over libfabric, in every order in which what they say may come: both join, whoever begins,
// and what they were told to send comes once.

#include "support/cells.hpp"
#include "support/choices.hpp"
#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi::greetings_test {

class Greetings : public Nodes, public testing::WithParamInterface<std::uint64_t> {
 protected:
  Greetings() : Nodes(2, 2, {.name = "fake", .fake = test::FakeProvider{.order = GetParam()}}) {}

  void settle() {
    for (int i = 0; i < 3; ++i) progress();
  }
  /// All that has come.
  void receive(NodeId node, std::vector<std::uint64_t>& into) {
    while (const Transport::View view = at(node).receive(Priority::low)) {
      into.push_back(view.packet->words[0]);
      at(node).release(view);
    }
  }

  /// Both send `each` messages; when they do it, and what comes next, is a choice.
  void run(test::Choices& order, std::size_t each) {
    fabric_->hold(true);
    std::size_t sent[2] = {0, 0};
    std::vector<std::uint64_t> came[2];
    for (;;) {
      settle();
      const std::vector<std::size_t> places = fabric_->deliverable();
      const bool may_send[2] = {sent[0] < each, sent[1] < each};
      const std::size_t count = places.size() + (may_send[0] ? 1 : 0) + (may_send[1] ? 1 : 0);
      if (count == 0) break;
      const std::size_t choice = order.pick(static_cast<unsigned>(count));
      if (choice < places.size()) {
        fabric_->deliver(places[choice]);
      } else {
        const NodeId from = choice == places.size() && may_send[0] ? 0 : 1;
        ASSERT_EQ(send(from, 1 - from, Priority::low, sent[from]++), Status::ok);
      }
      receive(0, came[0]);
      receive(1, came[1]);
    }
    fabric_->hold(false);
    const auto began = std::chrono::steady_clock::now();
    while ((came[0].size() < each || came[1].size() < each) &&
           std::chrono::steady_clock::now() < began + std::chrono::seconds(5)) {
      settle();
      receive(0, came[0]);
      receive(1, came[1]);
    }
    for (const std::vector<std::uint64_t>& words : came) {
      ASSERT_EQ(words.size(), each) << "after the choices " << testing::PrintToString(order.str());
      for (std::size_t i = 0; i < each; ++i) ASSERT_EQ(words[i], i);
    }
    ASSERT_TRUE(ears_[0].lost_ones.empty() && ears_[1].lost_ones.empty());
  }

  void run_all(std::size_t each, std::size_t rest = 0) {
    test::Choices order;
    std::size_t runs = 0;
    do {
      begin_anew();
      run(order, each);
      ++runs;
    } while (!HasFatalFailure() && order.next(rest));
    RecordProperty("orders", static_cast<int>(runs));
    std::fprintf(stderr, "[ orders   ] %zu\n", runs);
  }
};

TEST_P(Greetings, BothJoinInEveryOrder) { run_all(1); }

/// Some of the orders with a sanitizer, where all take minutes.
TEST_P(Greetings, WhatIsSentMeanwhileKeepsItsOrder) { run_all(2, test::build == test::Build::plain ? 0 : 5); }

INSTANTIATE_TEST_SUITE_P(, Greetings, testing::Values(FI_ORDER_SAS, 0),
                         [](const auto& order) { return order.param != 0 ? "ordered" : "unordered"; });

}  // namespace am::ofi::greetings_test
