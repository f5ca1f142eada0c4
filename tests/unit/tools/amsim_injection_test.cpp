// How a message goes into the network: through each interface, by the listing in 3.2.3, and with its address translated.
#include "amsim/papers/chapter_6/injection.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "amsim/papers/chapter_6/parameters.hpp"

namespace amsim::chapter_6::amsim_injection_test {

constexpr Port processor_buffered = model_named("MM").injection;
constexpr Port network_streaming = model_named("IRS").injection;
constexpr Port network_buffered = model_named("IRB").injection;
constexpr Port memory_streaming = model_named("IMS").injection;
constexpr Port memory_buffered = model_named("IMB").injection;
constexpr Port all_ports[] = {processor_buffered, network_buffered, memory_buffered, network_streaming,
                              memory_streaming};

/// Messages one after the other through one interface.
class Program {
 public:
  explicit Program(Port port) : injection_(port, AddressTranslation(Translation::gtlb)) {}

  Arrival send(unsigned words, Source source) {
    return injection_.send(thread, {.destination = {}, .words = std::vector<Source>(words, source)});
  }
  InstructionStream thread;

 private:
  Injection injection_;
};

/// "The fixed overhead for opening a streaming channel into the network dominates" for short messages (6.5.2), not for long ones.
TEST(Injection, OpeningAChannelInMemoryPaysForLongMessagesOnly) {
  EXPECT_GT(Program(memory_streaming).send(0, Source::computed).head,
            Program(memory_buffered).send(0, Source::computed).head);
  EXPECT_LT(Program(memory_streaming).send(9, Source::computed).head,
            Program(memory_buffered).send(9, Source::computed).head);
}

/// "A streaming interface is also unable to exploit message reuse" (6.5.2).
TEST(Injection, OnlyBuffersKeepAMessage) {
  for (const Port port : all_ports) {
    Program program(port);
    (void)program.send(9, Source::computed);
    const std::uint64_t before = program.thread.slots();
    (void)program.send(0, Source::kept);
    const std::uint64_t empty = program.thread.slots();
    (void)program.send(9, Source::kept);
    const std::uint64_t again = program.thread.slots() - empty;
    if (port.atomicity == Atomicity::buffered) {
      EXPECT_LE(again, empty - before + 1);
    } else {
      EXPECT_GE(again, empty - before + 2 * 9) << "loaded again";
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

/// The listing in 3.2.3, instruction by instruction: "the entire fetch and add operation takes as few as 16 cycles to traverse the
/// injection and extraction interfaces". What lies between the two, path_cycles, is not counted there.
TEST(FetchAndAdd, TakesSixteenCyclesOverBothInterfaces) {
  const Arrival message = Program(processor_buffered).send(2, Source::computed);
  const Register address{message.words[0] - path_cycles};
  const Register value{message.words[1] - path_cycles};
  InstructionStream handler;
  handler.jump({message.head - path_cycles});  // instr IALU jmp MsgHead
  const Register loaded = handler.issue(op::load(address));
  const Register saved = handler.issue(op::move(address));
  const Register sum = handler.issue({.unit = Unit::ialu, .reads = {value, loaded}});
  EXPECT_EQ(handler.issue(op::store(saved, sum)).ready, 16u);
}

struct Cost {
  Cycle cycles;
  std::uint64_t slots;
};
Cost cost(const AddressTranslation& translation, unsigned live) {
  InstructionStream thread;
  const Cycle ready = translation.translate(thread, {}, live).ready;
  return {.cycles = ready, .slots = thread.slots()};
}

/// "Each missed entry costs an additional 16 cycles of latency and 22 cycles of occupancy" (6.4).
TEST(Translation, EachMissedEntryCostsTheSame) {
  const Cost hit = cost(AddressTranslation(Translation::software), 0);
  for (unsigned missed = 1; missed < 4; ++missed) {
    const Cost later = cost(AddressTranslation(Translation::software, missed), 0);
    EXPECT_EQ(later.cycles, hit.cycles + 16 * missed);
    EXPECT_EQ(later.slots, hit.slots + 22 * missed);
  }
}

/// Register pressure "forces the program to spill a number of registers to make way for the lookup" (6.5.3).
TEST(Translation, SpillsOnlyWhenRegistersAreFull) {
  EXPECT_EQ(AddressTranslation::spilled(0), 0u);
  EXPECT_EQ(AddressTranslation::spilled(integer_registers - held_registers - lookup_registers), 0u);
  EXPECT_EQ(AddressTranslation::spilled(rpc_words),
            rpc_words + held_registers + lookup_registers - integer_registers);
  const Cost empty = cost(AddressTranslation(Translation::software), 0);
  const Cost full = cost(AddressTranslation(Translation::software), rpc_words);
  EXPECT_EQ(full.slots - empty.slots, 4u * AddressTranslation::spilled(rpc_words))
      << "address and access, out and in";
  EXPECT_GE(full.cycles, empty.cycles + 4 * AddressTranslation::spilled(rpc_words));
}

}  // namespace amsim::chapter_6::amsim_injection_test
