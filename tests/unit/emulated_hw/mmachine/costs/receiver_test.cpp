// How a message that has arrived comes to a program: into its registers, and by which dispatch.
#include "emulated_hw/mmachine/costs/receiver.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "emulated_hw/mmachine/costs/parameters.hpp"

namespace am::mmachine::costs::receiver_test {

constexpr Port processor_streaming = model_named("MM").extraction;
constexpr Port network_streaming = model_named("ERS").extraction;
constexpr Port network_buffered = model_named("ERB").extraction;
constexpr Port memory_streaming = model_named("EMS").extraction;
constexpr Port memory_buffered = model_named("EMB").extraction;
constexpr Cycle at = 100;

Receiver through(Port extraction) { return Receiver({.extraction = extraction}); }

TEST(Receiver, HeadAndWordsAreThereAsTheirPlaceHasIt) {
  const struct {
    Port port;
    Cycle later;          // than they have come
    std::uint64_t slots;  // of eight words
  } rows[] = {
      {processor_streaming, 0, 0},              // they are operands
      {network_streaming, 1, 8},                // each is moved
      {memory_streaming, hierarchy_cycles, 16}  // an address and a load each, which are pipelined
  };
  for (const auto& [port, later, slots] : rows) {
    SCOPED_TRACE(slots);
    Receiver dispatched = through(port);
    dispatched.bring_in(Arrival::in_one_piece(at, 8));
    dispatched.run([&] { EXPECT_EQ(dispatched.thread.next_issue(), at + later + jump_cycles); });
    Receiver taking = through(port);
    taking.bring_in(Arrival::in_one_piece(at, 8));
    Register last;
    taking.take_words([&](Register word) { last = word; });
    EXPECT_EQ(last.ready, at + 8 + later);
    EXPECT_EQ(taking.thread.slots(), slots);
  }
}

TEST(Receiver, ABufferedMessageWaitsForItsTail) {
  const auto readable = [](Port port, std::size_t words) {
    return through(port).bring_in(Arrival::in_one_piece(at, words));
  };
  EXPECT_EQ(readable(network_buffered, 3), at + 3 + hand_over_cycles);
  EXPECT_EQ(readable(network_buffered, 8), at + 8 + hand_over_cycles);
  EXPECT_EQ(readable(memory_buffered, 8), at + 8 + hierarchy_cycles);
  EXPECT_EQ(readable(network_streaming, 8), at);
}

TEST(Receiver, ABufferHoldsOneMessage) {
  Receiver buffered = through(network_buffered);
  buffered.bring_in(Arrival::in_one_piece(at, 3));
  buffered.thread.wait_until(at + 50);
  EXPECT_EQ(buffered.bring_in(Arrival::in_one_piece(at + 10, 3)), at + 50 + 3 + hand_over_cycles)
      << "the next one enters when the dispatcher is back";
  Receiver streaming = through(network_streaming);
  streaming.thread.wait_until(at + 50);
  EXPECT_EQ(streaming.bring_in(Arrival::in_one_piece(at + 10, 3)), at + 10);
}

TEST(Receiver, StreamsAreUsedWordByWordAndBuffersAsAWhole) {
  for (const Port port : {network_streaming, network_buffered}) {
    Receiver receiver = through(port);
    receiver.bring_in(Arrival::in_one_piece(0, 3));
    std::vector<std::uint64_t> taken_before;
    receiver.take_words([&](Register) { taken_before.push_back(receiver.thread.slots()); });
    const std::vector<std::uint64_t> one_by_one{1, 2, 3};
    const std::vector<std::uint64_t> all_first{3, 3, 3};
    EXPECT_EQ(taken_before, port.atomicity == Atomicity::buffered ? all_first : one_by_one);
  }
}

/// Two operations for each register, out through a pointer and for the interrupt in again; the jump goes beside the last one.
TEST(Dispatch, APollSavesLiveRegistersAnInterruptAll) {
  const auto cost = [](Dispatch how) {
    Receiver receiver({.dispatch = how});
    return receiver.bring_in({at, {}}) == at ? receiver.thread.next_issue() : 0;
  };
  EXPECT_EQ(cost(Dispatch::thread_slot), 0u) << "the first instruction waits for the head alone";
  EXPECT_EQ(cost(Dispatch::polled), at + 2 * jump_cycles + 2 * polling_registers);
  EXPECT_EQ(cost(Dispatch::interrupt), at + 2 * jump_cycles + 4 * interrupt_registers - 1);
}

TEST(Dispatch, WhatWaitsWhenAHandlerEndsFindsTheDispatcherThere) {
  for (const Dispatch how : {Dispatch::polled, Dispatch::interrupt}) {
    Receiver receiver({.dispatch = how});
    receiver.bring_in({at, {}});
    const Cycle in = receiver.thread.next_issue();
    receiver.bring_in({at + 1, {}});
    EXPECT_EQ(receiver.thread.next_issue(), in);
    receiver.bring_in({in + 1000, {}});
    EXPECT_GT(receiver.thread.next_issue(), in + 1000) << "the program was restored meanwhile";
  }
}

}  // namespace am::mmachine::costs::receiver_test
