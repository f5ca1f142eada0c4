// Handlers in hardware at one interface, without network or processor: what they answer, store and send on, in which cycles, and what
// they refuse (T1 report, 3.5, 3.7, 3.9, A.6, A.9).
#include "emulated_hw/t1/hardware_handlers.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "emulated_hw/t1/nistat.hpp"
#include "emulated_hw/t1/processor.hpp"
#include "support/check.hpp"

namespace hardware_handlers_test {

using namespace am::t1;

constexpr std::uint32_t node = 3;
constexpr std::uint32_t asker = 1;
constexpr NodeNumber nodes = 4;
constexpr Word words_of_memory = 64;
constexpr Address there = 16;  // of what is accessed: word 4
constexpr Address handler = 0x4000;
constexpr Address reserved_but_not_defined = 0xffff0000;
constexpr Address kernel = NetworkInterface::kernel_space;
constexpr Word all_events = nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm;

Message message(Address at, const std::vector<Word>& scalars, unsigned vector = 0) {
  Message made;
  made.destination = node;
  made.handler = at;
  made.scalars = static_cast<std::uint8_t>(scalars.size());
  std::ranges::copy(scalars, made.scalar.begin());
  made.vector = static_cast<std::uint8_t>(vector);
  std::iota(made.vector_words.begin(), made.vector_words.end(), 1000u);
  return made;
}
Message fetch(Word words, Address address = there, Word tag = 77) {
  return message(hardware::fetch, {asker, handler, address, words, tag});
}
Message high(Message made) {
  made.priority = Priority::high;
  return made;
}
Message from_kernel(Message made) {
  made.kernel = true;
  return made;
}

class T1HardwareHandlers : public testing::Test {
 protected:
  T1HardwareHandlers() {
    ni().ctc2(Register::nistat, all_events);
    for (Word i = 0; i < words_of_memory; ++i) memory_.block(4 * i, 1).front() = 500 + i;
  }
  [[nodiscard]] NetworkInterface& ni() { return cpu_.ni(); }
  [[nodiscard]] Word at(Address address) { return memory_.block(address, 1).front(); }
  [[nodiscard]] bool is_answered() { return ni().outgoing(Priority::high).has_value(); }
  /// The network takes the answer.
  Message take() {
    Message answer = ni().outgoing(Priority::high).value();
    ni().gone(Priority::high);
    return answer;
  }
  /// Cycles until the next message of that priority may come.
  unsigned cycles_of(const Message& what) {
    ni().deliver(what);
    unsigned cycles = 0;
    for (; !ni().has_room(what.priority) && cycles < 100; ++cycles) handlers_.step();
    return cycles;
  }
  void step(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) handlers_.step();
  }
  /// What the processor raises when it comes to it.
  std::string error_of(const Message& what) {
    ni().ctc2(Register::enable, 1);
    ni().ctc2(Register::nistat, all_events);
    ni().deliver(what);
    return test::error_of<Exception>([this] {
      for (int i = 0; i < 100; ++i) {
        handlers_.step();
        cpu_.step();
      }
    });
  }

  Processor cpu_{node};
  Memory memory_{words_of_memory, 8};
  HardwareHandlers handlers_{cpu_.ni(), memory_, nodes};
};

// 3.9: "A fetch request packet would contain a memory address to fetch, the address of the requesting node, and the pointer to the
// handler on the requesting node that will handle the reply." 3.2: 128 bits of memory per cycle.
TEST_F(T1HardwareHandlers, AFetchIsAnsweredWithWhatIsThere) {
  for (Word words = 1; words <= most_vector; ++words) {
    EXPECT_EQ(cycles_of(fetch(words)), 1 + (words + 3) / 4 + 1) << words;
    const Message answer = take();
    EXPECT_EQ(answer.destination, asker);
    EXPECT_EQ(answer.handler, handler);
    EXPECT_EQ(answer.priority, Priority::high);
    EXPECT_FALSE(answer.kernel);
    EXPECT_EQ(answer.scalar[0], 77u);
    EXPECT_EQ(answer.scalars, words == 1 ? 2 : 1);
    EXPECT_EQ(answer.vector, words == 1 ? 0 : words);
    for (Word i = 0; i < words; ++i)
      EXPECT_EQ(words == 1 ? answer.scalar[1] : answer.vector_words[i], 500 + there / 4 + i);
  }
  EXPECT_EQ(handlers_.counts().fetched, 32u);
}

// A.6: the scalars, "appended by the vector". Of both priorities, since it waits for nothing (3.5).
TEST_F(T1HardwareHandlers, AStoreWritesScalarsAndVector) {
  for (const Priority priority : {Priority::low, Priority::high}) {
    Message store = message(hardware::store, {there, 1, 2, 3, 4}, 32);
    store.priority = priority;
    EXPECT_EQ(cycles_of(store), 1u + 9);
    for (Word i = 0; i < 4; ++i) EXPECT_EQ(at(there + 4 * i), 1 + i);
    for (Word i = 0; i < 32; ++i) EXPECT_EQ(at(there + 16 + 4 * i), 1000 + i);
    EXPECT_EQ(at(there - 4), 503u);
    EXPECT_EQ(at(there + 4 * 36), 540u);
    EXPECT_FALSE(is_answered());
    step(1);
    std::ranges::fill(memory_.block(there, 36), 0u);
  }
  EXPECT_EQ(cycles_of(message(hardware::store, {there, 9})), 1u + 1);
  EXPECT_EQ(at(there), 9u);
  EXPECT_EQ(cycles_of(message(hardware::store, {there}, 3)), 1u + 1);
  EXPECT_EQ(at(there + 8), 1002u);
  EXPECT_EQ(handlers_.counts().stored, 4u);
  EXPECT_EQ(handlers_.counts().memory, 9u + 9 + 1 + 1);
}

// 3.9: "reformat the packet with its new network address and handler, and put it back on the network".
TEST_F(T1HardwareHandlers, AForwardedMessageGoesOnWithTheRest) {
  EXPECT_EQ(cycles_of(message(hardware::forward, {2, handler, 10, 20, 30}, 32)), 1u + 1);
  Message gone = take();
  EXPECT_EQ(gone.destination, 2u);
  EXPECT_EQ(gone.handler, handler);
  EXPECT_EQ(gone.priority, Priority::high);
  EXPECT_EQ(gone.scalars, 3u);
  EXPECT_TRUE(std::ranges::equal(std::span(gone.scalar).first(3), std::array<Word, 3>{10, 20, 30}));
  EXPECT_EQ(gone.vector, 32u);
  EXPECT_EQ(gone.vector_words[31], 1031u);
  EXPECT_EQ(cycles_of(message(hardware::forward, {2, handler})), 1u + 1);
  gone = take();
  EXPECT_EQ(gone.scalars + gone.vector, 0);
  EXPECT_EQ(handlers_.counts().forwarded, 2u);
}

// 3.9: without the node's computation. No event, whatever is enabled; and A.2.6: nothing is pending for the processor.
TEST_F(T1HardwareHandlers, NeedNoEventAndShowNone) {
  for (const Word enabled : {0u, 1u}) {
    ni().ctc2(Register::enable, enabled);
    for (const Message& one : {fetch(8), high(message(hardware::store, {there, 1}))}) {
      ni().deliver(one);
      while (!ni().has_room(one.priority)) {
        EXPECT_FALSE(ni().next_event());
        EXPECT_EQ(ni().cfc2(Register::nistat) & (nistat::hpmp | nistat::lpmp | nistat::pend), 0u);
        handlers_.step();
      }
    }
    take();
  }
}

// 3.5: a request whose answer cannot be sent waits, with what comes behind it at its priority; replies pass it.
TEST_F(T1HardwareHandlers, WaitForRoomToAnswerAndHoldUpTheirPriorityOnly) {
  EXPECT_EQ(cycles_of(fetch(1)), 3u);
  ni().deliver(fetch(2));
  step(50);
  EXPECT_FALSE(ni().has_room(Priority::low));
  EXPECT_EQ(handlers_.counts().waited, 49u);
  EXPECT_EQ(cycles_of(high(message(hardware::store, {there, 9}))), 2u);
  EXPECT_EQ(take().vector, 0u);
  step(1);
  EXPECT_FALSE(is_answered());
  step(1);
  EXPECT_TRUE(ni().has_room(Priority::low));
  EXPECT_EQ(take().vector_words[0], 9u) << "of the instant at which it could go";
}

// The path to memory is one (3.2): a store of high priority makes a fetch wait, not the other way round.
TEST_F(T1HardwareHandlers, AccessMemoryOneAtATimeHighFirst) {
  ni().deliver(fetch(32));
  step(3);
  EXPECT_EQ(cycles_of(high(message(hardware::store, {there, 1}, 31))), 1u + 8);
  step(10 + 8 - 3 - 9 - 1);
  EXPECT_FALSE(is_answered());
  step(1);
  EXPECT_TRUE(is_answered());
  EXPECT_EQ(handlers_.counts().memory, 16u);
}

// A.2.5: hpa and lpa are about messages from the CPU. An answer does not take the processor's place, nor it the answer's: in turns.
TEST_F(T1HardwareHandlers, AnswersAndSendsOfHighPriorityGoInTurns) {
  std::vector<Address> gone;
  const auto fill = [&] {
    if (ni().accepts(Priority::high)) ni().send({.priority = Priority::high}, 2, 0x5000);
    if (ni().accepts_answer()) cycles_of(fetch(1));
  };
  for (int i = 0; i < 6; ++i) {
    fill();
    gone.push_back(take().handler);
  }
  EXPECT_EQ(std::ranges::count(gone, handler), 3);
  for (std::size_t i = 1; i < gone.size(); ++i) EXPECT_NE(gone[i], gone[i - 1]);
  ni().gone(Priority::high);
  while (is_answered()) take();
  EXPECT_TRUE(ni().accepts(Priority::high) && ni().accepts_answer());
}

// 3.7: "This mode is the mode the receiving node runs at while handling the message."
TEST_F(T1HardwareHandlers, TheKernelsMemoryIsForMessagesOfTheKernel) {
  memory_.block(kernel, 1).front() = 11;
  EXPECT_EQ(cycles_of(from_kernel(fetch(1, kernel))), 3u);
  const Message answer = take();
  EXPECT_EQ(answer.scalar[1], 11u);
  EXPECT_TRUE(answer.kernel) << "so is the answer's handler";
  EXPECT_EQ(cycles_of(from_kernel(message(hardware::store, {kernel + 4, 12}))), 2u);
  EXPECT_EQ(at(kernel + 4), 12u);
  EXPECT_EQ(cycles_of(from_kernel(message(hardware::forward, {2, handler}))), 2u);
  EXPECT_TRUE(take().kernel);
  EXPECT_EQ(error_of(message(hardware::store, {kernel + 4, 13})),
            "node 3: address error: 0xfffffff8: the memory is the kernel's");
  EXPECT_EQ(at(kernel + 4), 12u);
  EXPECT_EQ(error_of(fetch(1, kernel)), "node 3: address error: 0xfffffffc: the memory is the kernel's");
}

struct Refused {
  const char* name;
  Message message;
  std::string_view why;
};

class T1HardwareHandlersRefuse : public T1HardwareHandlers, public testing::WithParamInterface<Refused> {};

// 3.7, A.9.1: "an address error exception will occur when the fetch of the first handler instruction is attempted".
TEST_P(T1HardwareHandlersRefuse, WithAnAddressErrorOfTheProcessor) {
  const Refused& bad = GetParam();
  ni().deliver(bad.message);
  EXPECT_EQ(ni().cfc2(Register::nistat) & (nistat::hpmp | nistat::lpmp), 0u);
  step(1);
  EXPECT_EQ(ni().cfc2(Register::nistat) & (nistat::hpmp | nistat::lpmp),
            bad.message.priority == Priority::high ? nistat::hpmp : nistat::lpmp);
  step(100);
  EXPECT_FALSE(ni().has_room(bad.message.priority)) << "until an event may come";
  ni().handled(bad.message.priority);
  EXPECT_NE(error_of(bad.message).find(": " + std::string(bad.why)), std::string::npos);
  EXPECT_FALSE(is_answered());
  for (Word i = 0; i < words_of_memory; ++i) ASSERT_EQ(at(4 * i), 500 + i);
  EXPECT_EQ(handlers_.counts().memory, 0u);
  EXPECT_EQ(handlers_.counts().refused, 2u);
}

constexpr std::string_view not_defined = "the hardware has no such handler";
constexpr std::string_view form_of_fetch = "a fetch has 5 scalar words and no vector";
constexpr std::string_view length_of_fetch = "a fetch is of 1 to 32 words";
constexpr std::string_view no_words = "a store has an address, and words behind it";
constexpr std::string_view no_destination = "what is to be forwarded has a node and a handler";
constexpr std::string_view high_request = "it would wait to send, and has high priority";
constexpr std::string_view no_node = "it names a node outside the network";
constexpr std::string_view no_word = "the memory is not at the address of a word";
constexpr std::string_view no_memory = "the node has no such memory";
constexpr std::string_view bad_handler = "it names a handler that is not at the address of a word";

constexpr Address end = 4 * words_of_memory;

INSTANTIATE_TEST_SUITE_P(
    All, T1HardwareHandlersRefuse,
    testing::Values(
        Refused{"UndefinedFirst", message(reserved_but_not_defined, {1, 2, 3, 4, 5}), not_defined},
        Refused{"UndefinedLast", message(hardware::forward - 4, {}), not_defined},
        Refused{"UndefinedOfTheKernel", from_kernel(message(reserved_but_not_defined, {})), not_defined},
        Refused{"FetchTooShort", message(hardware::fetch, {asker, handler, there, 1}), form_of_fetch},
        Refused{"FetchWithVector", message(hardware::fetch, {asker, handler, there, 1, 0}, 1), form_of_fetch},
        Refused{"FetchOfNothing", fetch(0), length_of_fetch},
        Refused{"FetchOfTooMuch", fetch(33), length_of_fetch},
        Refused{"FetchOfFarTooMuch", fetch(0xffffffff), length_of_fetch},
        Refused{"FetchMisaligned", fetch(1, there + 2), no_word},
        Refused{"FetchBehindTheEnd", fetch(1, end), no_memory},
        Refused{"FetchAcrossTheEnd", fetch(32, end - 31 * 4), no_memory},
        Refused{"FetchIntoTheKernels", fetch(2, kernel - 4), no_memory},
        Refused{"FetchOfKernelWithoutMemory", from_kernel(fetch(1, kernel + 32)), no_memory},
        Refused{"FetchAtTheEndOfAddresses", from_kernel(fetch(2, 0xfffffffc)), no_memory},
        Refused{"FetchForNobody", message(hardware::fetch, {nodes, handler, there, 1, 0}), no_node},
        Refused{"FetchForNoHandler", message(hardware::fetch, {asker, handler + 1, there, 1, 0}),
                bad_handler},
        Refused{"FetchOfHighPriority", high(fetch(1)), high_request},
        Refused{"StoreWithoutAddress", message(hardware::store, {}, 32), no_words},
        Refused{"StoreOfNothing", message(hardware::store, {there}), no_words},
        Refused{"StoreMisaligned", message(hardware::store, {there + 1, 1}), no_word},
        Refused{"StoreAcrossTheEnd", high(message(hardware::store, {end - 4, 1, 2})), no_memory},
        Refused{"StoreBehindTheEnd", message(hardware::store, {0x7ffffffc, 1, 2, 3, 4}, 32), no_memory},
        Refused{"ForwardToNobody", message(hardware::forward, {nodes, handler}), no_node},
        Refused{"ForwardToNoHandler", message(hardware::forward, {0, handler + 2}), bad_handler},
        Refused{"ForwardWithoutHandler", message(hardware::forward, {0}, 4), no_destination},
        Refused{"ForwardAgain",
                high(message(hardware::forward, {asker, hardware::forward, asker, hardware::forward})),
                high_request}),
    [](const auto& tested) { return tested.param.name; });

// Appendix A has nothing against code there: a kernel handles what the hardware refuses, of its own messages.
TEST_F(T1HardwareHandlers, AKernelMayHandleWhatIsRefused) {
  bool ran = false;
  cpu_.place(hardware::fetch, [&](Processor& cpu) -> Program {
    ran = cpu.registers().data[3] == 33;
    co_await cpu.cycles(1);
  });
  EXPECT_EQ(error_of(from_kernel(fetch(33))), "no error");
  EXPECT_TRUE(ran);
  EXPECT_EQ(cycles_of(from_kernel(fetch(1))), 3u) << "and the hardware goes on";
  EXPECT_EQ(error_of(fetch(33)), "node 3: address error: 0xfffffffc: a fetch is of 1 to 32 words");
}

// A.2.5, A.2.13: "when ame is clear, all messages are handled by a default message handler", these too, in whichever cycle.
TEST_F(T1HardwareHandlers, DoNothingWhileActiveMessagesAreDisabled) {
  ni().ctc2(Register::enable, 1);
  ni().ctc2(Register::dmh, 0x9000);
  for (unsigned done = 0; done < 9; ++done) {
    ni().deliver(fetch(32));
    step(done);
    ni().ctc2(Register::nistat, all_events & ~nistat::ame);
    step(20);
    EXPECT_FALSE(is_answered());
    ASSERT_TRUE(ni().next_event());
    EXPECT_EQ(ni().enter(0).handler, 0x9000u);
    EXPECT_EQ(ni().cfc2(Register::inh), hardware::fetch);
    ni().hret();
    ni().ctc2(Register::nistat, all_events);
    EXPECT_EQ(cycles_of(fetch(32)), 10u) << "from the beginning";
    take();
  }
}

}  // namespace hardware_handlers_test
