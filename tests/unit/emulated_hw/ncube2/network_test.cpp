// The network of the nCUBE/2: criteria NC-5 to NC-14 (von Eicken 1993, 3.1.3, Figure 3-5); NC-12 is in cube_port_test.cpp.
#include "emulated_hw/ncube2/network.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <numeric>

namespace am::ncube2::network_test {

using kit::WireNumber;

constexpr Network::Flit end{0, static_cast<std::uint8_t>(Tag::end)};

/// A cube whose nodes send what they are told, and take what comes, unless they are told not to.
struct Cube {
  explicit Cube(unsigned dimensions, NodeNumber deaf = kit::nowhere)
      : network(dimensions),
        to_send(network.wiring().wires().size()),
        came(network.nodes()),
        told(network.nodes()) {
    for (NodeNumber node = 0; node < network.nodes(); ++node) {
      network.rings(network.wiring().node(node), {told, node});
      for (unsigned dimension = 0; dimension < dimensions && node != deaf; ++dimension)
        network.accept(network.into(node, dimension));
    }
  }

  void send(NodeNumber from, const Address& to, std::vector<Word> words) {
    words.insert(words.begin(), to.word());
    send_by(first_dimension(from, to), from, words);
  }
  void send_by(unsigned dimension, NodeNumber from, const std::vector<Word>& words) {
    auto& flits = to_send[network.out_of(from, dimension)];
    for (const Word word : words) flits.push_back({word});
    flits.push_back(end);
    senders.push_back(network.out_of(from, dimension));
  }
  void step() {
    for (const WireNumber wire : senders) {
      auto& flits = to_send[wire];
      // As an engine does: the next word when the one before is on its way.
      if (flits.empty() || !network.is_drained(wire)) continue;
      network.send(wire, flits.front());
      flits.pop_front();
    }
    told.for_each([&](NodeNumber node) {
      told.erase(node);
      for (unsigned dimension = 0; dimension < network.dimensions(); ++dimension) take(node, dimension);
    });
    network.step();
  }
  /// Whatever has come: the end of a message needs no room, and may come with its last word.
  void take(NodeNumber node, unsigned dimension) {
    const WireNumber wire = network.into(node, dimension);
    while (const auto* flit = network.front(wire)) {
      if (*flit == end) {
        came[node].push_back(std::exchange(partial[wire], {}));
      } else {
        partial[wire].push_back(flit->word);
        network.accept(wire);
      }
      network.take(wire);
    }
  }
  [[nodiscard]] bool sends() const {
    return std::ranges::any_of(
        senders, [&](WireNumber wire) { return !to_send[wire].empty() || !network.is_drained(wire); });
  }
  void run_dry() {
    for (Cycle cycle = 0; cycle < 1'000'000 && (sends() || network.under_way() != 0); ++cycle) {
      step();
      if (network.still_for() > 500) break;
    }
    senders.clear();
  }
  [[nodiscard]] std::size_t all_that_came() const {
    return std::accumulate(came.begin(), came.end(), std::size_t{0},
                           [](std::size_t sum, const auto& one) { return sum + one.size(); });
  }

  Network network;
  std::vector<std::deque<Network::Flit>> to_send;  // by wire
  std::vector<WireNumber> senders;
  std::map<WireNumber, std::vector<Word>> partial;
  std::vector<std::vector<std::vector<Word>>> came;  // by node: messages
  kit::NodeSet told;                                 // nodes to which something has come
};

/// NC-9, C-1: T(h, W) = 44 (h - 1) + 36 W + 5, for all h and W, in the largest cube.
TEST(Ncube2Network, TakesTheTimeOfFigure35) {
  EXPECT_EQ(latency(1, 2), 77u);
  EXPECT_EQ(latency(6, 8), 513u);
  EXPECT_EQ(latency(13, 2), 605u);
  Network network(most_dimensions);
  ASSERT_EQ(network.nodes(), 8192u);
  for (unsigned hops = 1; hops <= most_dimensions; ++hops) {
    for (unsigned words = 1; words <= 64; ++words) {
      const NodeNumber from = hops * 37 + words;
      const NodeNumber to = from ^ ((1u << hops) - 1) << (most_dimensions - hops) / 2;
      const Address address{.node = to};
      const unsigned last = static_cast<unsigned>(std::bit_width(from ^ to)) - 1;
      const WireNumber out = network.out_of(from, first_dimension(from, address));
      const WireNumber in = network.into(to, last);
      const Cycle begun = network.now();
      network.accept(in);
      unsigned sent = 0;
      for (bool ended = false; !ended; network.step()) {
        if (sent <= words && network.is_drained(out)) {
          network.send(out, sent == words ? end : Network::Flit{sent == 0 ? address.word() : sent});
          ++sent;
        }
        if (const auto* flit = network.front(in)) {
          ended = *flit == end;
          if (!ended) network.accept(in);
          network.take(in);
        }
      }
      // The node finds in the next cycle what has come. Room for a word that has not come is left.
      ASSERT_EQ(network.now() - begun - 2, latency(hops, words)) << hops << " hops, " << words << " words";
    }
  }
}

/// NC-11: blocked behind r routers a message lies in 2 r buffered flits, and in its source if these are not enough. Where it lies nothing passes.
TEST(Ncube2Network, BlockedMessagesLieInTwoFlitsOfEachRouter) {
  for (unsigned hops = 1; hops <= 4; ++hops) {
    for (std::size_t words = 1; words <= 2 * hops + 2; ++words) {
      const NodeNumber to = (1u << hops) - 1;
      Cube cube(4, to);
      cube.send(0, {.node = to}, std::vector<Word>(words - 1));
      cube.run_dry();
      const WireNumber engine = cube.network.out_of(0, 0);
      EXPECT_EQ(cube.network.is_drained(engine) && cube.to_send[engine].empty(), words <= 2 * hops)
          << hops << " hops, " << words << " words";
      cube.send(0, {.node = 1}, {});
      cube.run_dry();
      EXPECT_EQ(cube.came[1].size(), words <= 2 * (hops - 1) ? 1u : 0u)
          << hops << " hops, " << words << " words";
    }
  }
}

/// NC-10: e-cube's first bit, from a node to its own engine of that bit; and no way out of the cube.
TEST(Ncube2Network, RefusesWhatTheKernelMayNotSend) {
  Cube wrong(3);
  wrong.send_by(1, 0, {Address{.node = 3}.word()});
  EXPECT_THROW(wrong.step(), std::logic_error);
  Cube outside(3);
  outside.send_by(0, 0, {Address{.node = 9}.word()});
  EXPECT_THROW(outside.step(), std::logic_error);
  EXPECT_THROW(Network(0), std::invalid_argument);
  EXPECT_THROW(Network(14), std::invalid_argument);
}

/// NC-13: a forwarding address costs a word; both routes together cost what one of their length does.
TEST(Ncube2Network, ForwardsByTheNextAddress) {
  Cube cube(4);
  cube.send(0b0000, {.node = 0b0110, .forwards = true}, {Address{.node = 0b0011}.word(), 5, 6});
  Cycle came = 0;
  while (cube.came[0b0011].empty()) {
    cube.step();
    came = cube.network.now();
  }
  EXPECT_EQ(came - 2, latency(2 + 2, 4));
  EXPECT_EQ(cube.came[0b0011].front(), (std::vector<Word>{Address{.node = 0b0011}.word(), 5, 6}));
}

/// NC-13 [V]: around a square two plain messages and two that turn back to the low bit hold what the next one waits for. One after the other
/// they get through.
TEST(Ncube2Network, ForwardedMessagesMayWaitForEachOther) {
  const std::vector<Word> much(40);
  for (const bool at_once : {true, false}) {
    Cube cube(2);
    const auto forward = [&](NodeNumber from, NodeNumber by, NodeNumber to) {
      std::vector<Word> words = much;
      words.front() = Address{.node = to}.word();
      cube.send(from, {.node = by, .forwards = true}, words);
    };
    cube.send(0, {.node = 3}, much);
    cube.send(3, {.node = 0}, much);
    forward(1, 3, 2);
    if (!at_once) cube.run_dry();
    forward(2, 0, 1);
    cube.run_dry();
    EXPECT_EQ(cube.all_that_came(), at_once ? 0u : 4u);
    const std::string waits = kit::who_waits(cube.network);
    EXPECT_EQ(waits.starts_with("a circle: router 1 port 0 -> router 1 port 17 -> router 3 port 1 -> "),
              at_once)
        << waits;
  }
}

/// NC-14: to each node of the subcube once, whichever bits do not matter.
TEST(Ncube2Network, BroadcastsToASubcube) {
  for (std::uint32_t mask = 1; mask < 32; ++mask) {
    for (NodeNumber from = 0; from < 32; from += 5) {
      Cube cube(5);
      const NodeNumber to = (from + mask * 3) % 32;
      cube.send(from, {.node = to, .mask = mask}, {1, 2, 3});
      cube.run_dry();
      for (NodeNumber node = 0; node < 32; ++node)
        EXPECT_EQ(cube.came[node].size(), node != from && ((node ^ to) & ~mask) == 0 ? 1u : 0u) << node;
    }
  }
}

/// NC-14 [V]: two may wait for each other's ports, for ever.
TEST(Ncube2Network, TwoBroadcastsMayWaitForEachOther) {
  bool any_circle = false;
  for (NodeNumber other = 1; other < 8; ++other) {
    for (Cycle later = 0; later < 100 && !any_circle; later += 4) {
      Cube cube(3);
      cube.send(0, {.mask = 7}, std::vector<Word>(30));
      for (Cycle cycle = 0; cycle < later; ++cycle) cube.step();
      cube.send(other, {.mask = 7}, std::vector<Word>(30));
      cube.run_dry();
      if (cube.network.under_way() != 0) any_circle = kit::who_waits(cube.network).starts_with("a circle: ");
    }
  }
  EXPECT_TRUE(any_circle);
}

}  // namespace am::ncube2::network_test
