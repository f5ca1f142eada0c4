#include "emulated_hw/mmachine/costs/extraction.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace am::mmachine::costs {
namespace extraction_test {

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

TEST(Extraction, ProcessorRegistersAreOperands) {
  const Taken taken = take(processor_streaming, 3);
  EXPECT_EQ(taken.head.ready, at);
  EXPECT_EQ(taken.words[2].ready, at + 3);
  EXPECT_EQ(taken.slots, 0u);
}

TEST(Extraction, NetworkRegistersAreMoved) {
  const Taken taken = take(network_streaming, 3);
  EXPECT_EQ(taken.head.ready, at + 1);
  EXPECT_EQ(taken.words[2].ready, at + 3 + 1);
  EXPECT_EQ(taken.slots, 4u);
}

TEST(Extraction, ABufferedMessageWaitsForItsTail) {
  EXPECT_EQ(take(network_buffered, 3).readable, at + 3 + hand_over_cycles);
  EXPECT_EQ(take(network_buffered, 8).readable, at + 8 + hand_over_cycles);
  EXPECT_EQ(take(memory_buffered, 8).readable, at + 8 + hierarchy_cycles);
  EXPECT_EQ(take(network_streaming, 8).readable, at);
}

TEST(Extraction, AWordOfMemoryTraversesTheHierarchy) {
  const Taken taken = take(memory_streaming, 8);
  EXPECT_EQ(taken.head.ready, at + hierarchy_cycles);
  EXPECT_EQ(taken.words.back().ready, at + 8 + hierarchy_cycles) << "loads are pipelined";
  EXPECT_EQ(taken.slots, 2u * 9) << "an address and a load each";
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

}  // namespace extraction_test
}  // namespace am::mmachine::costs
