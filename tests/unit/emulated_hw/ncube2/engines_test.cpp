// The DMA engines of the nCUBE/2: criteria NC-5, NC-11 and NC-15 to NC-22 (von Eicken 1993, 3.1.3, Figures 3-3 and 3-4).
#include "emulated_hw/ncube2/engines.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>

namespace am::ncube2::engines_test {

struct Cube {
  explicit Cube(unsigned dimensions, std::size_t words = 1024) : network(dimensions) {
    for (NodeNumber node = 0; node < network.nodes(); ++node) {
      nodes.emplace_back(network, node, words);
      std::iota(nodes.back().memory().begin(), nodes.back().memory().end(), node << 16);
    }
  }
  void step() {
    for (Engines& node : nodes) node.step();
    network.step();
  }
  /// Until it stands still.
  void run() {
    const Cycle begun = network.now();
    while (network.now() - begun < 200 || network.still_for() < 200) step();
  }
  /// A message of `words`, at address 100, whose first is where it goes.
  void send(NodeNumber from, NodeNumber to, Word words) {
    const Address address{.node = to};
    nodes[from].memory()[100] = address.word();
    nodes[from].send(first_dimension(from, address), 100, words);
  }

  Network network;
  std::deque<Engines> nodes;
};

/// NC-15 to NC-17, NC-19: memory to memory, a bit for each segment, and one for the message. The time is the network's, the first fetch, and
/// the last word's way into memory.
TEST(Ncube2Engines, BringSegmentsFromMemoryToMemory) {
  Cube cube(3);
  Engines& from = cube.nodes[0];
  Engines& to = cube.nodes[5];
  from.memory()[100] = Address{.node = 5}.word();
  from.send(0, 100, 3, false);
  to.receive(2, 10);
  cube.run();
  EXPECT_FALSE(from.is_sending(0));
  EXPECT_FALSE(to.is_receiving(2));
  EXPECT_TRUE(from.status().output_ready == 1 && to.status().input_ready == 4 &&
              to.status().message_ready == 0);
  from.send(0, 200, 2);
  cube.run();
  EXPECT_EQ(to.memory()[60], 5u << 16 | 60) << "the engine is off, and what comes waits";
  to.receive(2, 60);
  cube.run();
  EXPECT_EQ(to.status().message_ready, 4);
  EXPECT_TRUE(std::ranges::equal(std::span(to.memory()).subspan(10, 4),
                                 std::vector<Word>{5, 101, 102, 5u << 16 | 13}));
  EXPECT_TRUE(
      std::ranges::equal(std::span(to.memory()).subspan(60, 3), std::vector<Word>{200, 201, 5u << 16 | 62}));
  EXPECT_EQ(cube.network.under_way(), 0u);
}

/// NC-9 through the engines: to the latency come the first quadword's fetch, and the cycle in which the end is found.
TEST(Ncube2Engines, KeepTheChannelBusy) {
  for (const Word words : {1u, 2u, 7u, 64u}) {
    Cube cube(4);
    cube.nodes[15].receive(3, 0);
    cube.send(0, 15, words);
    Cycle cycles = 0;
    for (; cube.nodes[15].status().message_ready == 0; ++cycles) cube.step();
    EXPECT_EQ(cycles, latency(4, words) + (words == 1 ? dram_cycles : dram_cycles + page_cycles) + 2)
        << words;
  }
}

/// NC-11, NC-18: what nobody takes stays in the network, and in its source.
TEST(Ncube2Engines, WaitUntilTheReceiverIsSetUp) {
  for (const Word words : {4u, 5u}) {
    Cube cube(2);
    cube.send(0, 3, words);
    cube.run();
    EXPECT_EQ(cube.nodes[0].is_sending(0), words > 4);
    cube.nodes[3].receive(1, 0);
    cube.run();
    EXPECT_EQ(cube.nodes[3].status().message_ready, 2);
    cube.send(0, 3, words);
    cube.run();
    EXPECT_EQ(cube.nodes[0].is_sending(0), words > 4) << "an engine takes one message";
  }
}

/// NC-18 [V]: there is no limit. What lies behind the buffer is written over; the end of memory is where this machine stops.
TEST(Ncube2Engines, WriteOverWhatLiesBehindTheBuffer) {
  Cube cube(1);
  cube.nodes[1].receive(0, 0);
  cube.send(0, 1, 20);
  cube.run();
  EXPECT_EQ(cube.nodes[1].memory()[19], 119u) << "the buffer had 8 words";
  cube.nodes[1].receive(0, 1020);
  cube.send(0, 1, 20);
  EXPECT_THROW(cube.run(), std::out_of_range);
  EXPECT_THROW(cube.nodes[0].send(0, 1020, 5), std::out_of_range);
  EXPECT_THROW(cube.nodes[0].send(0, 0, 0), std::out_of_range);
}

/// NC-20: "setting the input DMA address to -1 causes the DMA engine to drop the next incoming message segment".
TEST(Ncube2Engines, DropASegment) {
  Cube cube(1);
  const std::vector<Word> before = cube.nodes[1].memory();
  cube.nodes[1].receive(0, Engines::drop);
  cube.send(0, 1, 30);
  cube.run();
  EXPECT_EQ(cube.nodes[1].memory(), before);
  EXPECT_TRUE(cube.nodes[1].status().message_ready == 1 && cube.nodes[1].memory_port().busy() == 0);
}

/// NC-5, NC-21: engines are independent, but for the memory. All ports of a node of the largest cube at once ask for more than it gives, and
/// the processor waits: of the cycles of its own accesses, so many more for each word that passes.
TEST(Ncube2Engines, ShareTheMemoryWithTheProcessor) {
  const auto run = [](unsigned ports) {
    Cube cube(8, 256);
    constexpr Word words = 40;
    Engines& node = cube.nodes[0];
    for (unsigned dimension = 0; dimension < ports; ++dimension) {
      const NodeNumber other = 1u << dimension;
      node.receive(dimension, 0);
      cube.nodes[other].receive(dimension, 0);
      cube.send(other, 0, words);
      node.memory()[200 + dimension] = Address{.node = other}.word();
      node.send(dimension, 200 + dimension, words);
    }
    Cycle cycles = 0;
    std::uint64_t accesses = 0;
    for (; (node.status().message_ready & ((1u << ports) - 1)) != (1u << ports) - 1; ++cycles) {
      if (!node.memory_port().is_asked_by(Engines::processor)) {
        node.memory_port().ask(Engines::processor, dram_cycles);
        ++accesses;
      }
      cube.step();
    }
    return std::pair(cycles, static_cast<double>(node.memory_port().waited(Engines::processor)) /
                                 static_cast<double>(accesses));
  };
  const auto [alone, waits_alone] = run(1);
  const auto [all, waits_all] = run(8);
  EXPECT_LT(alone, latency(1, 40) + 40);
  EXPECT_GT(all, alone);
  EXPECT_LT(waits_alone, 2);
  EXPECT_GT(waits_all, 20);
}

}  // namespace am::ncube2::engines_test
