// All-fall-down, and switches between programs: criteria CM-26 to CM-31 (von Eicken 1993, 3.2.3, "Network context").
#include "emulated_hw/cm5/network_context.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/cm5/control_network.hpp"
#include "interfaces.hpp"
#include "support/random.hpp"

namespace am::cm5::network_context_test {

/// With the kernels of these nodes.
struct Machine : test::Interfaces {
  explicit Machine(NodeNumber count, std::uint64_t seed = 1)
      : Interfaces(count, seed), kernels{{networks, nodes, Partition{0, count}}} {}
  void step() {
    if (networks[Side::left].now() % message_cycles == 0) kernels[0].step();
    Interfaces::step();
  }
  /// Cycles until all has been saved.
  std::vector<NodeContext> save() {
    kernels[0].begin_to_save();
    for (Cycle begun = networks[Side::left].now(); !kernels[0].have_saved(); step()) {
      if (networks[Side::left].now() - begun > 100'000) throw std::runtime_error("nothing falls down");
    }
    return kernels[0].end_saving();
  }
  bool send(NodeNumber from, NodeNumber to, Word word, Side side = Side::left) {
    nodes[from].send_first(side, {.length = most_words}, to);
    for (unsigned i = 0; i < most_words; ++i) nodes[from].send_data(side, i == 0 ? word : i);
    return nodes[from].status(side).send_ok;
  }

  std::vector<Kernels> kernels;  // one, which refers to the others
  Cycle message_cycles = 1;      // until they move the next one
};

/// A program that sends a number of messages from random nodes to random nodes, a store or load a cycle, and counts what comes.
class Program {
 public:
  Program(Word name, NodeNumber count, Word messages, test::Random& random)
      : name_(name), nodes_(count), times_(messages) {
    for (Word i = 0; i < messages; ++i) {
      const auto to = static_cast<NodeNumber>(random.one_in(2) ? 0 : random.below(count));
      nodes_[random.below(count)].to_send.push_back({to, i});
    }
  }
  void step(std::vector<NetworkInterface>& interfaces) {
    for (NodeNumber node = 0; node < nodes_.size(); ++node) {
      send(interfaces[node], nodes_[node]);
      for (const Side side : sides)
        receive(interfaces[node], node, nodes_[node].received[static_cast<std::size_t>(side)], side);
    }
  }
  [[nodiscard]] bool has_all() const { return came_ == times_.size(); }
  [[nodiscard]] const std::vector<unsigned>& times() const { return times_; }

  std::vector<NodeContext> context;

 private:
  struct Node {
    std::vector<std::pair<NodeNumber, Word>> to_send;
    unsigned stored = 0;  // words of the last of these, with its destination
    std::array<std::vector<Word>, 2> received{};
  };
  void send(NetworkInterface& interface, Node& node) {
    if (node.to_send.empty()) return;
    const auto [to, number] = node.to_send.back();
    const Side side = number % 2 == 0 ? Side::left : Side::right;
    const unsigned length = 3 + number % 3;
    const std::array words{name_, number, to, number, number};
    if (node.stored == 0) {
      interface.send_first(side, {.length = length, .tag = number % tags}, to);
    } else if (node.stored <= length) {
      interface.send_data(side, words[node.stored - 1]);
    } else if (interface.status(side).send_ok) {
      node.to_send.pop_back();
    }
    node.stored = node.stored <= length ? node.stored + 1 : 0;
  }
  void receive(NetworkInterface& interface, NodeNumber self, std::vector<Word>& words, Side side) {
    if (!interface.status(side).receive_ok) return;
    const unsigned left = interface.status(side).receive_length;
    words.push_back(interface.receive(side));
    if (left > 1) return;
    EXPECT_EQ(words[0], name_) << "of the other program";
    EXPECT_EQ(words[2], self);
    EXPECT_EQ(words.size(), 3 + words[1] % 3);
    ++times_[words[1]];
    ++came_;
    words.clear();
  }

  Word name_;
  std::vector<Node> nodes_;
  std::vector<unsigned> times_;  // by message
  std::size_t came_ = 0;
};

/// CM-26, CM-30: two programs in turns, a switch at any cycle, by the partition manager's command, between any stores of a send and loads of
/// a message: each message once, and to its own program. CM-25: the command comes at the same time to all, however full the data networks
/// are.
TEST(Cm5NetworkContext, SurvivesAThousandSwitches) {
  test::Random random(test::seed());
  constexpr NodeNumber count = 21;
  Machine machine(count, random());
  ControlNetwork control(count);
  std::array programs{Program(10, count, 12'000, random), Program(11, count, 12'000, random)};
  for (Program& program : programs) program.context.resize(count);
  std::size_t runs = 0;
  std::uint64_t saved = 0;
  for (unsigned switches = 0; switches < 1000; ++switches) {
    const Cycle until = control.now() + random.below(120);
    const auto run = [&] {
      programs[runs].step(machine.nodes);
      machine.step();
      control.step();
    };
    while (control.now() < until) run();
    control.command(1);
    for (Cycle cycle = 0; cycle < control.latency(); ++cycle) run();
    for (NodeNumber node = 0; node < count; ++node) ASSERT_EQ(control.take_command(node), 1u);
    programs[runs].context = machine.save();
    for (const NodeContext& context : programs[runs].context) saved += context.size();
    runs = 1 - runs;
    machine.kernels[0].begin_to_restore(std::exchange(programs[runs].context, {}));
  }
  EXPECT_GT(saved, 1000u) << "else nothing has been tried";
  for (int last = 0; last < 2; ++last) {
    for (Cycle cycle = 0; cycle < 200'000 && !programs[runs].has_all(); ++cycle) {
      programs[runs].step(machine.nodes);
      machine.step();
    }
    EXPECT_EQ(programs[runs].times(), std::vector<unsigned>(12'000, 1));
    programs[runs].context = machine.save();
    for (const NodeContext& context : programs[runs].context) EXPECT_EQ(context.size(), 0u);
    runs = 1 - runs;
    machine.kernels[0].begin_to_restore(std::exchange(programs[runs].context, {}));
  }
}

/// Every node sends to node 0, which receives nothing, until nothing moves.
void clog(Machine& machine) {
  for (Cycle cycle = 0; cycle < 3000; ++cycle) {
    for (NodeNumber node = 1; node < machine.nodes.size(); ++node) {
      for (const Side side : sides) machine.send(node, 0, node, side);
    }
    machine.step();
  }
}

/// CM-27: what would all have come to one node falls down to all, to none much more than to others; and sooner.
TEST(Cm5NetworkContext, SharesWhatOneNodeWouldHaveToTake) {
  Machine machine(256);
  clog(machine);
  const auto under_way = machine.networks[Side::left].under_way() + machine.networks[Side::right].under_way();
  const Cycle begun = machine.networks[Side::left].now();
  const auto contexts = machine.save();
  const Cycle with = machine.networks[Side::left].now() - begun;
  std::size_t most = 0;
  std::size_t all = 0;
  for (const NodeContext& context : contexts) {
    most = std::max(most, context.size());
    all += context.size();
  }
  EXPECT_EQ(all, under_way);
  const double mean = static_cast<double>(all) / 256;

  Machine without(256);
  clog(without);
  const Cycle clogged = without.networks[Side::left].now();
  for (NetworkInterface& node : without.nodes) node.save();
  std::size_t at_one = 0;
  for (; without.networks[Side::left].under_way() + without.networks[Side::right].under_way() != 0;
       without.step()) {
    for (const Side side : sides) {
      if (!without.nodes[0].status(side).receive_ok) continue;
      without.nodes[0].take(side);
      ++at_one;
    }
  }
  RecordProperty("most_mean_all_with_without",
                 std::to_string(most) + ' ' + std::to_string(mean) + ' ' + std::to_string(all) + ' ' +
                     std::to_string(with) + ' ' +
                     std::to_string(without.networks[Side::left].now() - clogged));
  EXPECT_GE(at_one + 10, all) << "node 0 takes it all";
  EXPECT_LT(static_cast<double>(most), 4 * mean);
  EXPECT_LT(10 * with, without.networks[Side::left].now() - clogged);
}

/// CM-27: how fast kernels take what falls down is assumed. A message takes 48 cycles on a link, so kernels that take up to 36 for it add little.
TEST(Cm5NetworkContext, FallsDownAsFastAsKernelsTakeIt) {
  const auto saved_in = [](Cycle message_cycles) {
    Machine machine(256);
    clog(machine);
    machine.message_cycles = message_cycles;
    const Cycle begun = machine.networks[Side::left].now();
    (void)machine.save();
    const Cycle took = machine.networks[Side::left].now() - begun;
    RecordProperty("message_cycles_" + std::to_string(message_cycles), std::to_string(took));
    return took;
  };
  const Cycle at_once = saved_in(1);
  EXPECT_LT(saved_in(8), at_once + 2 * 8);
  EXPECT_LT(saved_in(36), at_once + 2 * 36);
  EXPECT_GT(saved_in(100), 2 * at_once);
}

/// CM-28, footnote 7: a message from node 1023 to node 0 falls from a root onto node 16; sent again, it goes up to the second level above its
/// first routers, and not through a root.
TEST(Cm5NetworkContext, FallenMessagesAreCloser) {
  Machine machine(1024, test::seed());
  Network& network = machine.networks[Side::left];
  const auto passed_roots = [&] {
    std::uint64_t passed = 0;
    for (kit::WireNumber wire = 0; wire < network.wiring().wires().size(); ++wire) {
      const kit::PartNumber from = network.wiring().wire(wire).from.part;
      if (from < network.wiring().routers() && network.policy().routers()[from].nodes() == 1024)
        passed += network.carried(wire);
    }
    return passed;
  };
  machine.step();
  for (unsigned tries = 0; tries < 20'000; ++tries) {
    ASSERT_TRUE(machine.send(1023, 0, tries));
    machine.nodes[1023].step();
    for (Cycle cycle = 0; cycle < 4 * hop_cycles + 4; ++cycle) network.step();  // its head is in the root
    network.all_fall_down({0, 1024}, true);
    for (Cycle cycle = 0; cycle < latency(most_words, 5); ++cycle) network.step();
    network.all_fall_down({0, 1024}, false);
    NodeNumber fell = 0;
    for (; fell < 1024; ++fell) {
      machine.nodes[fell].step();
      if (machine.nodes[fell].status(Side::left).receive_ok) break;
    }
    ASSERT_LT(fell, 1024u);
    const Message message = machine.nodes[fell].take(Side::left);
    if (fell != 16) continue;
    EXPECT_EQ(message.to, 0u);
    EXPECT_EQ(passed_roots(), tries + 1) << "each has passed one";
    EXPECT_EQ(network.tree().levels_to_climb(16, 0), 2u + 1) << "two levels above the lowest";
    const Cycle begun = network.now();
    ASSERT_TRUE(network.launch(16, message));
    while (network.front(network.into(0, 0)) == nullptr && network.front(network.into(0, 1)) == nullptr)
      network.step();
    EXPECT_EQ(network.now() - begun, latency(most_words, 3));
    EXPECT_EQ(passed_roots(), tries + 1) << "not again";
    return;
  }
  FAIL() << "none has fallen onto node 16";
}

/// CM-29 [V]: what has fallen down is closer, and cannot all be put back unless users receive.
TEST(Cm5NetworkContext, UsersReceiveSoThatAllCanBePutBack) {
  Machine machine(64);
  clog(machine);
  machine.kernels[0].begin_to_restore(machine.save());
  for (Cycle cycle = 0; cycle < 3000; ++cycle) machine.step();
  const std::size_t left = machine.kernels[0].left();
  RecordProperty("left", std::to_string(left));
  EXPECT_GT(left, 0u);
  EXPECT_TRUE(std::ranges::all_of(machine.nodes, &NetworkInterface::is_locked))
      << "users are kept from sending";
  for (Cycle cycle = 0; cycle < 100'000 && machine.kernels[0].left() != 0; ++cycle) {
    for (const Side side : sides) {
      if (machine.nodes[0].status(side).receive_ok) machine.nodes[0].take(side);
    }
    machine.step();
  }
  EXPECT_EQ(machine.kernels[0].left(), 0u);
  EXPECT_TRUE(std::ranges::none_of(machine.nodes, &NetworkInterface::is_locked));
}

/// CM-29 [V]: where users may send meanwhile, kernels have more to keep with every switch; where they may not, no more than the networks hold.
TEST(Cm5NetworkContext, KernelsWouldKeepMoreWithEverySwitch) {
  const auto run = [](bool keeps_users_from_sending) {
    Machine machine(64);
    std::vector<std::size_t> kept;
    for (unsigned switches = 0; switches < 12; ++switches) {
      for (Cycle cycle = 0; cycle < 1000; ++cycle) {
        for (NodeNumber node = 1; node < 64; ++node) machine.send(node, 0, node);
        if (cycle % 64 == 0 && machine.nodes[0].status(Side::left).receive_ok)
          machine.nodes[0].take(Side::left);
        machine.step();
      }
      auto contexts = machine.save();
      kept.push_back(0);
      for (const NodeContext& context : contexts) kept.back() += context.size();
      machine.kernels[0].begin_to_restore(std::move(contexts), keeps_users_from_sending);
    }
    return kept;
  };
  const auto with = run(true);
  const auto without = run(false);
  RecordProperty("kept", std::to_string(with.front()) + ' ' + std::to_string(with.back()) + ' ' +
                             std::to_string(without.back()));
  EXPECT_EQ(with.front(), without.front());
  EXPECT_LE(std::ranges::max(with), with.front() + 64 * 2) << "these, and what the FIFOs had";
  EXPECT_GT(without.back(), 2 * without.front());
}

}  // namespace am::cm5::network_context_test
