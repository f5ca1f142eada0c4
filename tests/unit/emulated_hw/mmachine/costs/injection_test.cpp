#include "emulated_hw/mmachine/costs/injection.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace am::mmachine::costs {
namespace injection_test {

constexpr Port processor_buffered{Mapping::processor, Atomicity::buffered};

/// Messages one after the other through one interface.
class Program {
 public:
  explicit Program(Port port) : injection_(make_injection(port, AddressTranslation(Translation::gtlb))) {}

  Arrival send(unsigned words, Source source) {
    return injection_->send(cluster, {.destination = {}, .words = std::vector<Source>(words, source)});
  }
  Cluster cluster;

 private:
  std::unique_ptr<Injection> injection_;
};

void expect_a_word_a_cycle(const Arrival& arrival) {
  Cycle last = arrival.head;
  for (const Cycle word : arrival.words) {
    EXPECT_GT(word, last);
    last = word;
  }
}

TEST(Injection, FromProcessorRegistersIsOneSend) {
  Program program(processor_buffered);
  const Arrival empty = program.send(0, Source::computed);
  EXPECT_EQ(empty.head, send_cycles + path_cycles);
  EXPECT_EQ(program.cluster.slots(), send_cycles) << "five cycles for a null message";
}

TEST(Injection, FromProcessorRegistersWaitsForAll) {
  Program program(processor_buffered);
  const Arrival arrival = program.send(8, Source::computed);
  EXPECT_EQ(arrival.head, 8 / 2 + send_cycles + path_cycles) << "two words a cycle";
  EXPECT_EQ(arrival.tail(), arrival.head + 8);
}

TEST(Injection, IntoNetworkRegistersMovesEachWord) {
  Program program(network_buffered);
  const Arrival arrival = program.send(8, Source::computed);
  EXPECT_EQ(arrival.head, 8 / 2 + 8 + send_cycles + path_cycles);
  EXPECT_EQ(program.cluster.slots(), 8 + 8 + send_cycles);
}

TEST(Injection, AStreamsHeadDoesNotWaitForItsWords) {
  for (const Port port : {network_streaming, memory_streaming}) {
    Program shorter(port);
    Program longer(port);
    EXPECT_EQ(shorter.send(1, Source::loaded).head, longer.send(4, Source::loaded).head);
  }
}

TEST(Injection, ABufferedHeadWaitsForItsLastWord) {
  for (const Port port : {processor_buffered, network_buffered, memory_buffered}) {
    Program shorter(port);
    Program longer(port);
    EXPECT_LT(shorter.send(1, Source::loaded).head, longer.send(4, Source::loaded).head);
  }
}

TEST(Injection, AStreamIsOpenedByTwoWords) {
  Program program(network_streaming);
  EXPECT_EQ(program.send(0, Source::computed).head, 2 + header_cycles + path_cycles);
}

TEST(Injection, ThroughMemoryTraversesTheHierarchy) {
  Program stream(memory_streaming);
  EXPECT_GE(stream.send(0, Source::computed).head, 3 * hierarchy_cycles + header_cycles + path_cycles)
      << "header, answer, HandlerIP";
  Program buffer(memory_buffered);
  EXPECT_GE(buffer.send(0, Source::computed).head, 2 * hierarchy_cycles + header_cycles + path_cycles)
      << "told, fetched";
}

/// "The fixed overhead for opening a streaming channel into the network dominates" for short messages (6.5.2), not for long ones.
TEST(Injection, OpeningAChannelInMemoryPaysForLongMessagesOnly) {
  EXPECT_GT(Program(memory_streaming).send(0, Source::computed).head,
            Program(memory_buffered).send(0, Source::computed).head);
  EXPECT_LT(Program(memory_streaming).send(9, Source::computed).head,
            Program(memory_buffered).send(9, Source::computed).head);
}

/// "A streaming interface is also unable to exploit message reuse" (6.5.2).
TEST(Injection, OnlyBuffersKeepAMessage) {
  for (const Port port :
       {processor_buffered, network_buffered, memory_buffered, network_streaming, memory_streaming}) {
    Program program(port);
    (void)program.send(9, Source::computed);
    const std::uint64_t before = program.cluster.slots();
    (void)program.send(0, Source::kept);
    const std::uint64_t empty = program.cluster.slots();
    (void)program.send(9, Source::kept);
    const std::uint64_t again = program.cluster.slots() - empty;
    if (port.atomicity == Atomicity::buffered) {
      EXPECT_LE(again, empty - before + 1);
    } else {
      EXPECT_GE(again, empty - before + 2 * 9) << "loaded again";
    }
  }
}

TEST(Injection, MessagesOfOneInterfaceFollowEachOther) {
  for (const Port port :
       {processor_buffered, network_buffered, memory_buffered, network_streaming, memory_streaming}) {
    Program program(port);
    Cycle last = 0;
    for (unsigned i = 0; i < 20; ++i) {
      const Arrival arrival = program.send(10, i % 2 == 0 ? Source::loaded : Source::computed);
      EXPECT_GT(arrival.head, last);
      expect_a_word_a_cycle(arrival);
      EXPECT_EQ(arrival.words.size(), 10u);
      last = arrival.tail();
    }
  }
}

/// "MM can pipeline messages by sending them from the integer and floating-point register files alternately" (6.5.1).
TEST(Injection, TwoRegisterFilesOverlapLoadsWithSending) {
  Program program(processor_buffered);
  Cycle previous = program.send(10, Source::loaded).head;
  for (int i = 0; i < 5; ++i) {
    const Cycle next = program.send(10, Source::loaded).head;
    EXPECT_LE(next - previous, 2 * 10 + 4u)
        << "as long as ten loads and ten addresses, not the sending as well";
    previous = next;
  }
}

}  // namespace injection_test
}  // namespace am::mmachine::costs
