// How a message that has arrived comes to a program: into its registers, and by which dispatch.
#include "emulated_hw/mmachine/costs/extraction.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "emulated_hw/mmachine/costs/dispatch.hpp"

namespace am::mmachine::costs::extraction_test {

constexpr Port processor_streaming{Mapping::processor, Atomicity::streaming};
constexpr Cycle at = 100;

struct Taken {
  Cycle readable;
  Register head;
  std::vector<Register> words;
  std::uint64_t slots;
};
Taken take(Port port, std::size_t words) {
  Cluster cluster;
  Extraction extraction(port);
  Taken taken{};
  taken.readable = extraction.accept(cluster, Arrival::in_one_piece(at, words));
  taken.head = extraction.head(cluster);
  extraction.take_words(cluster, [&](Register word) { taken.words.push_back(word); });
  taken.slots = cluster.slots();
  return taken;
}

TEST(Extraction, HeadAndWordsAreThereAsTheirPlaceHasIt) {
  const struct {
    Port port;
    Cycle later;          // than they have come
    std::uint64_t slots;  // of head and eight words
  } rows[] = {
      {processor_streaming, 0, 0},                 // they are operands
      {network_streaming, 1, 9},                   // each is moved
      {memory_streaming, hierarchy_cycles, 2 * 9}  // an address and a load each, which are pipelined
  };
  for (const auto& [port, later, slots] : rows) {
    SCOPED_TRACE(slots);
    const Taken taken = take(port, 8);
    EXPECT_EQ(taken.head.ready, at + later);
    EXPECT_EQ(taken.words.back().ready, at + 8 + later);
    EXPECT_EQ(taken.slots, slots);
  }
}

TEST(Extraction, ABufferedMessageWaitsForItsTail) {
  EXPECT_EQ(take(network_buffered, 3).readable, at + 3 + hand_over_cycles);
  EXPECT_EQ(take(network_buffered, 8).readable, at + 8 + hand_over_cycles);
  EXPECT_EQ(take(memory_buffered, 8).readable, at + 8 + hierarchy_cycles);
  EXPECT_EQ(take(network_streaming, 8).readable, at);
}

TEST(Extraction, ABufferHoldsOneMessage) {
  Cluster cluster;
  Extraction extraction(network_buffered);
  (void)extraction.accept(cluster, Arrival::in_one_piece(at, 3));
  cluster.wait_until(at + 50);
  EXPECT_EQ(extraction.accept(cluster, Arrival::in_one_piece(at + 10, 3)), at + 50 + 3 + hand_over_cycles)
      << "the next one enters when the dispatcher is back";
  Extraction streaming(network_streaming);
  EXPECT_EQ(streaming.accept(cluster, Arrival::in_one_piece(at + 10, 3)), at + 10);
}

TEST(Extraction, StreamsAreUsedWordByWordAndBuffersAsAWhole) {
  for (const Port port : {network_streaming, network_buffered}) {
    Cluster cluster;
    Extraction extraction(port);
    (void)extraction.accept(cluster, Arrival::in_one_piece(0, 3));
    std::vector<std::uint64_t> taken_before;
    extraction.take_words(cluster, [&](Register) { taken_before.push_back(cluster.slots()); });
    const std::vector<std::uint64_t> one_by_one{1, 2, 3};
    const std::vector<std::uint64_t> all_first{3, 3, 3};
    EXPECT_EQ(taken_before, port.atomicity == Atomicity::buffered ? all_first : one_by_one);
  }
}

Cycle cost(Dispatch how) {
  Cluster cluster;
  Dispatching dispatching(how);
  dispatching.bring_in(cluster, at);
  return cluster.next_issue() <= at ? 0 : cluster.next_issue() - at;
}

/// Two operations for each register, out through a pointer and for the interrupt in again; the jump goes beside the last one.
TEST(Dispatch, APollSavesLiveRegistersAnInterruptAll) {
  EXPECT_EQ(cost(Dispatch::polled), 2 * jump_cycles + 2 * polling_registers);
  EXPECT_EQ(cost(Dispatch::interrupt), 2 * jump_cycles + 4 * interrupt_registers - 1);
}

TEST(Dispatch, WhatWaitsWhenAHandlerEndsFindsTheDispatcherThere) {
  for (const Dispatch how : {Dispatch::polled, Dispatch::interrupt}) {
    Cluster cluster;
    Dispatching dispatching(how);
    dispatching.bring_in(cluster, at);
    const Cycle in = cluster.next_issue();
    dispatching.bring_in(cluster, at + 1);
    EXPECT_EQ(cluster.next_issue(), in);
    dispatching.bring_in(cluster, in + 1000);
    EXPECT_GT(cluster.next_issue(), in + 1000) << "the program was restored meanwhile";
  }
}

}  // namespace am::mmachine::costs::extraction_test
