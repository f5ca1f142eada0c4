// Wormhole routers for words in any wiring. What a machine makes of them: tests/unit/emulated_hw/ncube2.
#include "emulated_hw/kit/word_network.hpp"

#include <gtest/gtest.h>

namespace am::kit::word_network_test {

/// A router whose messages go by any of two wires to a second one, which gives them to its node.
struct AnyOfTwo {
  using Word = std::uint32_t;
  static constexpr unsigned router_cycles = 2, credit_cycles = 1, buffer = 1, places = 4, head_cycles = 0;

  [[nodiscard]] Way way(PartNumber router, unsigned /*port*/, std::uint32_t /*head*/) const {
    return router == 0 ? Way{.outputs = 0b11, .any_one = true} : Way{.outputs = 1};
  }
  [[nodiscard]] std::uint64_t choose(std::uint64_t free, WireNumber /*input*/, Cycle /*now*/) {
    chosen.push_back(free);
    return free & -free;
  }
  [[nodiscard]] static unsigned cycles(std::uint8_t /*tag*/, const Wire& wire) { return wire.flit_cycles; }
  [[nodiscard]] static bool takes_room(std::uint8_t tag) { return tag == 0; }
  [[nodiscard]] static bool ends(std::uint8_t tag) { return tag == 1; }
  [[nodiscard]] static std::uint64_t print(Word word) { return word; }
  [[nodiscard]] static std::string name(Word word) { return std::to_string(word); }

  std::vector<std::uint64_t> chosen;
};

Wiring two_ways(unsigned cycles) {
  Wiring wiring(2, 3);
  for (unsigned node = 0; node < 2; ++node) wiring.connect({{wiring.node(node), 0}, {0, node}, 0});
  for (unsigned way = 0; way < 2; ++way) wiring.connect({{0, way}, {1, way}, cycles});
  wiring.connect({{1, 0}, {wiring.node(2), 0}, 0});
  return wiring;
}

/// The second message finds the first one's way taken, and goes by the other; both meet again.
TEST(WordNetwork, MessagesTakeAnyFreeWay) {
  WordNetwork<AnyOfTwo> network(two_ways(4), {});
  const WireNumber out = network.wiring().into(network.wiring().node(2))[0];
  std::array<std::vector<WordNetwork<AnyOfTwo>::Flit>, 2> to_send{{{{1}, {2}, {0, 1}}, {{11}, {12}, {0, 1}}}};
  std::vector<std::uint32_t> came;
  for (Cycle cycle = 0; cycle < 200; ++cycle) {
    for (WireNumber wire = 0; wire < 2; ++wire) {
      if (to_send[wire].empty() || !network.is_drained(wire)) continue;
      network.send(wire, to_send[wire].front());
      to_send[wire].erase(to_send[wire].begin());
    }
    network.accept(out);
    while (const auto* flit = network.front(out)) {
      if (flit->tag == 0) came.push_back(flit->word);
      network.take(out);
    }
    network.step();
  }
  EXPECT_EQ(came, (std::vector<std::uint32_t>{1, 2, 11, 12}));
  EXPECT_EQ(network.under_way(), 0u);
  EXPECT_EQ(network.policy().chosen, (std::vector<std::uint64_t>{0b11, 0b10}));
  EXPECT_EQ(network.carried(2), 3u);
  EXPECT_EQ(network.carried(3), 3u);
}

TEST(WordNetwork, RefusesWiresThatCannotBe) {
  EXPECT_THROW(WordNetwork<AnyOfTwo>(two_ways(0), {}), std::invalid_argument);
  Wiring wiring = two_ways(1);
  EXPECT_THROW(wiring.connect({{0, 0}, {1, 5}, 1}), std::invalid_argument) << "its port is taken";
  EXPECT_THROW(wiring.connect({{1, 1}, {1, 1}, 1}), std::invalid_argument) << "as is that";
  EXPECT_THROW(wiring.connect({{0, 2}, {5, 0}, 1}), std::invalid_argument) << "no such part";
  EXPECT_THROW(wiring.connect({{0, Wiring::most_ports}, {1, 3}, 1}), std::invalid_argument);
  EXPECT_EQ(wiring.connect({{0, 2}, {1, 2}, 1}), 5u) << "what was refused has taken nothing";
}

}  // namespace am::kit::word_network_test
