// The T1's network interface, held to its specification: each test cites the section of the T1 report's appendix A that it reads.
#include "emulated_hw/t1/network_interface.hpp"

#include <am/registers.hpp>

#include <gtest/gtest.h>

#include <numeric>

#include "emulated_hw/t1/nistat.hpp"
#include "support/random.hpp"

namespace network_interface_test {

using namespace am::t1;

constexpr std::uint32_t node = 5;
constexpr Address handler = 0x4000;
constexpr Address pc = 0x1000;

/// An interface whose events are all enabled, as a program sets it up.
class T1Interface : public testing::Test {
 protected:
  T1Interface() {
    ni_.ctc2(Register::enable, 1);
    ni_.ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm | nistat::tm);
    ni_.ctc2(Register::timeh, 0x7000);
    ni_.ctc2(Register::outh, 0x8000);
    ni_.ctc2(Register::dmh, 0x9000);
  }

  [[nodiscard]] Word status() const { return ni_.cfc2(Register::nistat); }
  [[nodiscard]] bool has(Word bits) const { return (status() & bits) == bits; }
  [[nodiscard]] bool enabled() const { return ni_.cfc2(Register::enable) == 1; }
  void set(Word bits) { ni_.ctc2(Register::nistat, status() | bits); }
  void clear(Word bits) { ni_.ctc2(Register::nistat, status() & ~bits); }

  static Message message(Priority priority, unsigned scalars = 0, unsigned vector = 0) {
    Message made;
    made.destination = node;
    made.handler = handler;
    made.priority = priority;
    made.scalars = static_cast<std::uint8_t>(scalars);
    made.vector = static_cast<std::uint8_t>(vector);
    std::iota(made.scalar.begin(), made.scalar.end(), 100u);
    std::iota(made.vector_words.begin(), made.vector_words.end(), 1000u);
    return made;
  }
  void deliver(Priority priority) { ni_.deliver(message(priority)); }
  void fill(Priority priority) { ASSERT_TRUE(ni_.send({.priority = priority}, 1, handler)); }
  void until_timelet() {
    ni_.ctc2(Register::timec, ni_.cfc2(Register::count) + 1);
    ni_.tick();
  }

  NetworkInterface ni_{node};
};

using T1InterfaceRegisters = T1Interface;
using T1InterfaceSends = T1Interface;
using T1InterfaceEvents = T1Interface;

// A.2, Table 1: numbers, and what can be written.
TEST_F(T1InterfaceRegisters, AreThoseOfTheTable) {
  for (const Register which :
       {Register::timeh, Register::timec, Register::lpepc, Register::hpepc, Register::dmh, Register::outh}) {
    ni_.ctc2(which, 0xdeadbee0);
    EXPECT_EQ(ni_.cfc2(which), 0xdeadbee0) << static_cast<unsigned>(which);
  }
  for (const Register which : {Register::count, Register::niid, Register::inh}) {
    const Word before = ni_.cfc2(which);
    ni_.ctc2(which, ~before);
    EXPECT_EQ(ni_.cfc2(which), before) << static_cast<unsigned>(which);
  }
  EXPECT_EQ(static_cast<unsigned>(Register::timeh), 6u);
  EXPECT_EQ(static_cast<unsigned>(Register::timec), 7u);
  EXPECT_EQ(static_cast<unsigned>(Register::count), 9u);
  EXPECT_EQ(static_cast<unsigned>(Register::enable), 18u);
  EXPECT_EQ(static_cast<unsigned>(Register::inh), 25u);
  EXPECT_THROW(static_cast<void>(ni_.cfc2(Register{8})), InvalidInstruction);
  EXPECT_THROW(ni_.ctc2(Register{26}, 0), InvalidInstruction);
  for (const Word written : {~0u, ~1u}) {
    ni_.ctc2(Register::enable, written);
    EXPECT_EQ(ni_.cfc2(Register::enable), written & 1) << "only EE (A.2.4)";
  }
}

// A.2.5, A.2.6: which bits of nistat can be written.
TEST_F(T1InterfaceRegisters, StatusKeepsWhatIsReadOnly) {
  const Word read_only = ~nistat::writable;
  const Word before = status() & read_only & ~nistat::pend;
  ni_.ctc2(Register::nistat, ~0u);
  EXPECT_EQ(status() & nistat::writable, nistat::writable);
  EXPECT_EQ(status() & read_only & ~nistat::pend, before);
  EXPECT_TRUE(has(nistat::pend)) << "op is pending and enabled now";
  ni_.ctc2(Register::nistat, 0);
  EXPECT_EQ(status() & nistat::writable, 0u);
  EXPECT_EQ(status() & read_only, before);
}

// Figure 18 tests lpa by a shift of 14 into the sign; the rest of the layout is one with am/registers.hpp.
TEST_F(T1InterfaceRegisters, BitsLieWhereFigure18AndTheRegisterViewHaveThem) {
  EXPECT_EQ(nistat::lpa << 14, 1u << 31);
  using Pair = std::pair<Word, Word>;
  namespace view = am::nistat;
  for (const auto& [ours, theirs] :
       {Pair{nistat::pend, view::pend}, Pair{nistat::nicond, view::nicond},
        Pair{nistat::onicond, view::onicond}, Pair{nistat::hpmp, view::hpmp}, Pair{nistat::lpmp, view::lpmp},
        Pair{nistat::op, view::op}, Pair{nistat::tp, view::tp}, Pair{nistat::hpmm, view::hpmm},
        Pair{nistat::lpmm, view::lpmm}, Pair{nistat::om, view::om}, Pair{nistat::tm, view::tm},
        Pair{nistat::lpee, view::lpee}, Pair{nistat::hpa, view::hpa}, Pair{nistat::lpa, view::lpa},
        Pair{nistat::ame, view::ame}, Pair{nistat::mcst, view::mcst}, Pair{nistat::pri, view::pri},
        Pair{nistat::writable, view::writable}})
    EXPECT_EQ(ours, theirs);
  const Word lengths = nistat::lengths(5, 32);
  EXPECT_EQ(am::nistat::slen(lengths), 5u);
  EXPECT_EQ(am::nistat::vlen(lengths), 32u);
}

// A.2.3, A.2.2, A.9.3: Count counts; at timec a timelet is pending until it begins or timec is written; all 32 bits are compared.
TEST_F(T1InterfaceRegisters, TimeletIsPendingWhenCountIsTimec) {
  ni_.ctc2(Register::timec, 3);
  for (Word count = 1; count <= 5; ++count) {
    ni_.tick();
    EXPECT_EQ(ni_.cfc2(Register::count), count);
    EXPECT_EQ(has(nistat::tp), count >= 3);
  }
  ni_.ctc2(Register::timec, 3);
  EXPECT_FALSE(has(nistat::tp)) << "writing it clears tp, also when its time has passed";
  ni_.tick();
  EXPECT_FALSE(has(nistat::tp));
  ni_.ctc2(Register::timec, 0x10007);
  ni_.tick();
  EXPECT_FALSE(has(nistat::tp)) << "7, but not 0x10007";
}

// A.2.5: pend shows what EP and EM have in common, also while EE is clear.
TEST_F(T1InterfaceRegisters, PendIsAQuickPollWhileEventsAreDisabled) {
  ni_.ctc2(Register::enable, 0);
  EXPECT_FALSE(has(nistat::pend)) << "op is pending, but masked";
  deliver(Priority::low);
  EXPECT_TRUE(has(nistat::pend | nistat::lpmp));
  clear(nistat::lpmm);
  EXPECT_FALSE(has(nistat::pend));
  EXPECT_TRUE(has(nistat::lpmp)) << "masked, it is pending all the same";
  set(nistat::om);
  EXPECT_TRUE(has(nistat::pend));
}

// A.2.10: bits 10 to 0.
TEST(T1InterfaceOfAnyNode, HasElevenBitsOfName) {
  EXPECT_EQ(NetworkInterface(1023).cfc2(Register::niid), 1023u);
  EXPECT_EQ(NetworkInterface(0x12345).cfc2(Register::niid), 0x345u);
}

// A.6, A.8.3: each length of each of the eight, and what of them arrives.
TEST_F(T1InterfaceSends, CarryTheFirstWordsOfTheVisibleSetAndTheVector) {
  Vector vd;
  std::iota(vd.begin(), vd.end(), 500u);
  std::iota(ni_.visible().data.begin(), ni_.visible().data.end(), 40u);
  for (unsigned form = 0; form < 8; ++form) {
    for (unsigned n = 0; n <= most_scalars; ++n) {
      for (const unsigned vlr : {0u, 1u, 31u, 32u}) {
        const Send what{n, (form & 1) != 0, (form & 2) != 0 ? Priority::high : Priority::low,
                        (form & 4) != 0};
        ASSERT_TRUE(ni_.send(what, 77, handler, vd, vlr));
        EXPECT_TRUE(ni_.nicond());
        const Message sent = ni_.outgoing(what.priority).value();
        EXPECT_EQ(sent.destination, 77u);
        EXPECT_EQ(sent.handler, handler);
        EXPECT_EQ(sent.priority, what.priority);
        EXPECT_EQ(sent.multicast, what.multicast);
        EXPECT_EQ(sent.scalars, n);
        EXPECT_EQ(sent.vector, what.vector ? vlr : 0);
        for (unsigned i = 0; i < n; ++i) EXPECT_EQ(sent.scalar[i], 40 + i);
        for (unsigned i = 0; i < sent.vector; ++i) EXPECT_EQ(sent.vector_words[i], 500 + i);
        const unsigned words = 2 + n + sent.vector;
        EXPECT_EQ(sent.flits(), (words + 3) / 4);
        ni_.gone(what.priority);

        NetworkInterface other(77);
        other.ctc2(Register::enable, 1);
        other.ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm);
        other.deliver(sent);
        EXPECT_EQ(other.enter(pc).handler, handler);
        const Word status = other.cfc2(Register::nistat);
        EXPECT_EQ((status & nistat::mcst) != 0, what.multicast) << "A.8.2";
        EXPECT_EQ((status & nistat::pri) != 0, what.priority == Priority::high) << "A.2.7";
        EXPECT_EQ(nistat::slen(status), n);
        EXPECT_EQ(nistat::vlen(status), sent.vector);
        EXPECT_TRUE(std::equal(vd.begin(), vd.begin() + sent.vector, other.visible().vr1.begin()));
      }
    }
  }
}

// A.6: "if the network cannot accept the outgoing message, nicond is cleared and the instruction is aborted"; A.1: a full low
// network does not hold up high messages. lpa, hpa and op: A.2.5, A.2.6.
TEST_F(T1InterfaceSends, FailWhileTheNetworkTakesNothing) {
  EXPECT_TRUE(has(nistat::lpa | nistat::hpa | nistat::op));
  ni_.visible().data[0] = 1;
  ASSERT_TRUE(ni_.send({.scalars = 1}, 1, handler));
  EXPECT_TRUE(has(nistat::nicond | nistat::hpa));
  EXPECT_FALSE(has(nistat::lpa));
  EXPECT_FALSE(has(nistat::op)) << "both have to be available";
  ni_.visible().data[0] = 2;
  EXPECT_FALSE(ni_.send({.scalars = 1}, 2, handler));
  EXPECT_FALSE(ni_.nicond());
  EXPECT_EQ(ni_.outgoing(Priority::low)->destination, 1u);
  EXPECT_EQ(ni_.outgoing(Priority::low)->scalar[0], 1u);
  EXPECT_TRUE(ni_.send({.priority = Priority::high}, 2, handler));
  EXPECT_TRUE(ni_.nicond());
  EXPECT_FALSE(has(nistat::hpa));
  ni_.gone(Priority::low);
  EXPECT_TRUE(has(nistat::lpa));
  EXPECT_FALSE(has(nistat::op));
  EXPECT_TRUE(ni_.send({.scalars = 1}, 3, handler)) << "the data is still there: just once more (3.3)";
}

// A.6: handler address error, encodings with n greater than 5; nothing has happened then.
TEST_F(T1InterfaceSends, RefuseWhatIsNoInstruction) {
  set(nistat::nicond);
  for (const Address wrong : {handler + 1, handler + 2, handler + 3})
    EXPECT_THROW(ni_.send({}, 1, wrong), HandlerAddressError);
  EXPECT_THROW(ni_.send({.scalars = 6}, 1, handler), InvalidInstruction);
  EXPECT_THROW(ni_.send({.vector = true}, 1, handler, {}, 33), InvalidInstruction);
  EXPECT_TRUE(has(nistat::lpa | nistat::hpa | nistat::nicond));
}

// A.9.1: what happens when a low message begins; A.7: what when it ends.
TEST_F(T1InterfaceEvents, LowMessageAndItsReturn) {
  ni_.visible().data = {1, 2, 3, 4, 5};
  ni_.visible().temporary = {6, 7};
  ni_.visible().vr1[0] = 8;
  ASSERT_TRUE(ni_.send({}, 1, handler));  // nicond is set
  ni_.deliver(message(Priority::low, 3, 2));
  ASSERT_EQ(ni_.next_event(), Event::low_message);
  const auto entry = ni_.enter(pc);
  EXPECT_EQ(entry.handler, handler);
  EXPECT_EQ(ni_.cfc2(Register::lpepc), pc);
  EXPECT_FALSE(has(nistat::lpee));
  EXPECT_TRUE(enabled());
  EXPECT_FALSE(has(nistat::lpmp)) << "no more of them wait (A.2.6)";
  EXPECT_TRUE(has(nistat::onicond));
  EXPECT_EQ(ni_.cfc2(Register::inh), handler);
  EXPECT_EQ(ni_.visible().data[2], 102u);
  EXPECT_EQ(ni_.visible().vr1[1], 1001u);
  ni_.ctc2(Register::enable, 0);  // a critical section in the handler (3.5, footnote 5)
  EXPECT_EQ(ni_.cfc2(Register::inh), handler);
  EXPECT_EQ(status() & 0xffff, nistat::lengths(3, 2)) << "it is still a message's handler (A.2.7)";
  ni_.ctc2(Register::enable, 1);

  ni_.visible().temporary = {60, 70};
  EXPECT_FALSE(ni_.send({}, 1, handler));  // nicond is clear now
  EXPECT_EQ(ni_.hret(), pc);
  EXPECT_TRUE(has(nistat::lpee | nistat::nicond)) << "onicond is copied back";
  EXPECT_EQ(ni_.visible().data, (std::array<Word, 5>{1, 2, 3, 4, 5}));
  EXPECT_EQ(ni_.visible().temporary, (std::array<Word, 2>{6, 7}));
  EXPECT_EQ(ni_.visible().vr1[0], 8u);
  EXPECT_EQ(status() & 0xffff, 0u) << "valid within a handler only (A.2.7)";

  deliver(Priority::low);
  ni_.enter(pc);
  EXPECT_EQ(ni_.visible().temporary, (std::array<Word, 2>{60, 70})) << "kept from handler to handler (A.9.1)";
}

// A.9.1: a high message clears EE and leaves nicond alone; A.9: it preempts a low handler and no high one.
TEST_F(T1InterfaceEvents, HighMessagePreemptsALowHandlerOnly) {
  deliver(Priority::low);
  ni_.enter(pc);
  ni_.deliver(message(Priority::high, 5, 0));
  deliver(Priority::low);
  ASSERT_EQ(ni_.next_event(), Event::high_message);
  EXPECT_EQ(ni_.enter(handler + 8).handler, handler);
  EXPECT_FALSE(enabled());
  EXPECT_EQ(ni_.cfc2(Register::hpepc), handler + 8);
  EXPECT_EQ(ni_.cfc2(Register::lpepc), pc);
  EXPECT_TRUE(has(nistat::pri));
  EXPECT_EQ(nistat::slen(status()), 5u);
  deliver(Priority::high);
  EXPECT_EQ(ni_.next_event(), std::nullopt);
  EXPECT_EQ(ni_.hret(), handler + 8);
  EXPECT_TRUE(enabled());
  EXPECT_FALSE(has(nistat::lpee)) << "the low handler goes on";
  EXPECT_FALSE(has(nistat::pri));
  ASSERT_EQ(ni_.next_event(), Event::high_message);
  ni_.enter(handler + 12);
  ni_.hret();
  EXPECT_EQ(ni_.next_event(), std::nullopt) << "the low message that waits does not preempt it";
  EXPECT_EQ(ni_.hret(), pc);
  EXPECT_EQ(ni_.next_event(), Event::low_message);
}

// A.9: high before low; of low ones messages, then timelets, then outlets. A.9.3: the timelet begins at timeh, and tp is clear.
TEST_F(T1InterfaceEvents, ComeInAFixedOrder) {
  set(nistat::om);
  until_timelet();
  deliver(Priority::low);
  deliver(Priority::high);
  const auto expect = [this](Event event, Address its_handler) {
    ASSERT_EQ(ni_.next_event(), event);
    const auto entry = ni_.enter(pc);
    EXPECT_EQ(entry.event, event);
    EXPECT_EQ(entry.handler, its_handler);
    EXPECT_NE(event == Event::high_message ? enabled() : has(nistat::lpee), true);
    EXPECT_EQ(has(nistat::tp), event == Event::high_message || event == Event::low_message);
    EXPECT_EQ(ni_.hret(), pc);
  };
  expect(Event::high_message, handler);
  expect(Event::low_message, handler);
  expect(Event::timelet, 0x7000);
  expect(Event::outlet, 0x8000);
  expect(Event::outlet, 0x8000);  // again and again (A.9.2)
}

// A.2.4 to A.2.6: each event needs EE and its mask, all but high messages LPEE too. Every combination.
TEST_F(T1InterfaceEvents, NeedTheirEnablesAndMasks) {
  struct Case {
    Event event;
    Word mask;
  };
  for (const auto& [event, mask] : {Case{Event::high_message, nistat::hpmm},
                                    {Event::low_message, nistat::lpmm},
                                    {Event::timelet, nistat::tm},
                                    {Event::outlet, nistat::om}}) {
    NetworkInterface ni(node);
    if (event == Event::high_message) ni.deliver(message(Priority::high));
    if (event == Event::low_message) ni.deliver(message(Priority::low));
    if (event == Event::timelet) {
      ni.ctc2(Register::timec, 1);
      ni.tick();
    }
    for (unsigned bits = 0; bits < 8; ++bits) {
      const bool ee = (bits & 1) != 0, lpee = (bits & 2) != 0, unmasked = (bits & 4) != 0;
      ni.ctc2(Register::enable, ee ? 1 : 0);
      ni.ctc2(Register::nistat, (lpee ? nistat::lpee : 0) | (unmasked ? mask : nistat::masks & ~mask));
      const bool comes = ee && unmasked && (lpee || event == Event::high_message);
      const auto next = ni.next_event();
      EXPECT_EQ(next == event, comes) << static_cast<int>(event) << ' ' << bits;
    }
  }
}

// A.9.2: the outlet, and what it leaves alone.
TEST_F(T1InterfaceEvents, OutletComesWhileBothNetworksTakeMessages) {
  set(nistat::om | nistat::nicond);
  ASSERT_EQ(ni_.next_event(), Event::outlet);
  const auto entry = ni_.enter(pc);
  EXPECT_EQ(entry.handler, 0x8000u);
  EXPECT_FALSE(entry.address_error);
  EXPECT_EQ(ni_.cfc2(Register::lpepc), pc);
  EXPECT_FALSE(has(nistat::lpee));
  EXPECT_TRUE(has(nistat::onicond));
  EXPECT_EQ(status() & 0xffff, 0u) << "no message is handled";
  EXPECT_EQ(ni_.cfc2(Register::inh), 0u);
  fill(Priority::low);
  EXPECT_EQ(ni_.hret(), pc);
  EXPECT_EQ(ni_.next_event(), std::nullopt) << "what it sent has not gone";
  ni_.gone(Priority::low);
  EXPECT_EQ(ni_.next_event(), Event::outlet);
  fill(Priority::high);
  EXPECT_EQ(ni_.next_event(), std::nullopt);
}

// A.2.11, A.2.13: without ame all messages go to the default handler, which reads from inh whose they were.
TEST_F(T1InterfaceEvents, DefaultHandlerTakesAllWhileActiveMessagesAreDisabled) {
  clear(nistat::ame);
  for (const Priority priority : {Priority::high, Priority::low}) {
    deliver(priority);
    EXPECT_EQ(ni_.enter(pc).handler, 0x9000u);
    EXPECT_EQ(ni_.cfc2(Register::inh), handler);
    ni_.hret();
  }
}

// 3.7, A.6, A.9.1, A.7: a message's handler runs in its sender's mode; user code cannot name the kernel's.
TEST_F(T1InterfaceEvents, KernelModeTravelsWithTheMessage) {
  for (const bool sender : {false, true}) {
    for (const bool receiver : {false, true}) {
      NetworkInterface from(1);
      from.set_kernel(sender);
      for (const Priority priority : {Priority::high, Priority::low}) {
        ASSERT_TRUE(from.send({.priority = priority}, node, NetworkInterface::kernel_space));
        ni_.set_kernel(receiver);
        ni_.deliver(from.outgoing(priority).value());
        from.gone(priority);
        EXPECT_EQ(ni_.enter(pc).address_error, !sender);
        EXPECT_EQ(ni_.in_kernel(), sender);
        ni_.hret();
        EXPECT_EQ(ni_.in_kernel(), receiver);
      }
    }
  }
  ni_.set_kernel(true);
  until_timelet();
  ni_.enter(pc);
  EXPECT_TRUE(ni_.in_kernel()) << "timelets and outlets leave it as it is";
  ni_.set_kernel(false);
  ni_.hret();
  EXPECT_FALSE(ni_.in_kernel()) << "and HRET restores it for messages only (A.7)";
}

// A.2.1, A.2.11, A.2.12: an address in a handler register that is not that of a word is an address error when it is invoked.
TEST_F(T1InterfaceEvents, AddressErrorOfAHandlerRegister) {
  ni_.ctc2(Register::timeh, 0x7002);
  until_timelet();
  EXPECT_TRUE(ni_.enter(pc).address_error);
  ni_.hret();
  ni_.ctc2(Register::dmh, 0x9001);
  clear(nistat::ame);
  deliver(Priority::low);
  EXPECT_TRUE(ni_.enter(pc).address_error);
  ni_.hret();
  ni_.ctc2(Register::outh, 0x8003);
  set(nistat::om);
  EXPECT_TRUE(ni_.enter(pc).address_error);
}

// A.10: which register set is visible, by EE and LPEE, also when they are written by hand to set up $8 and $9.
TEST_F(T1InterfaceEvents, VisibleSetFollowsEeAndLpee) {
  const auto show = [&](bool ee, bool lpee) {
    ni_.ctc2(Register::enable, ee ? 1 : 0);
    lpee ? set(nistat::lpee) : clear(nistat::lpee);
    return &ni_.visible();
  };
  const RegisterSet* const normal = show(true, true);
  const RegisterSet* const low = show(true, false);
  const RegisterSet* const high = show(false, true);
  EXPECT_EQ(show(false, false), high);
  EXPECT_NE(normal, low);
  EXPECT_NE(low, high);
  EXPECT_NE(normal, high);
  show(true, false)->temporary[0] = 11;
  show(false, true)->temporary[0] = 12;
  show(true, true);
  deliver(Priority::low);
  ni_.enter(pc);
  EXPECT_EQ(ni_.visible().temporary[0], 11u);
  deliver(Priority::high);
  ni_.enter(pc);
  EXPECT_EQ(ni_.visible().temporary[0], 12u);
}

TEST_F(T1InterfaceEvents, HretOutsideAnEventIsNoInstruction) { EXPECT_THROW(ni_.hret(), InvalidInstruction); }

// A.1: "This allows at most two levels of event handling." Whatever comes, with what a handler may do: no more than two, every message
// is handled once and in order, what was preempted goes on where it was with its registers and condition as they were.
TEST_F(T1InterfaceEvents, NestAtMostTwiceWhateverComes) {
  test::Random random(test::seed());
  struct Context {
    Address pc;
    RegisterSet registers;
    bool nicond;
    bool high;
  };
  std::vector<Context> preempted;
  std::array<Word, 2> sent{}, handled{};
  set(nistat::om);
  for (int step = 0; step < 20'000; ++step) {
    ni_.tick();
    if (random.one_in(3)) {
      const Priority priority = random.one_in(2) ? Priority::high : Priority::low;
      if (ni_.has_room(priority)) {
        Message next = message(priority, 1);
        next.scalar[0] = sent[index(priority)]++;
        ni_.deliver(next);
      }
    }
    if (random.one_in(50))
      ni_.ctc2(Register::timec, ni_.cfc2(Register::count) + 1 + static_cast<Word>(random.below(20)));
    if (random.one_in(4)) ni_.gone(random.one_in(2) ? Priority::high : Priority::low);
    if (ni_.next_event() && random.one_in(2)) {
      const Address here = static_cast<Address>(4 * step);
      preempted.push_back({here, ni_.visible(), ni_.nicond(), ni_.next_event() == Event::high_message});
      const auto entry = ni_.enter(here);
      ASSERT_LE(preempted.size(), 2u);
      ASSERT_EQ(preempted.back().high, entry.event == Event::high_message);
      if (entry.event == Event::high_message || entry.event == Event::low_message) {
        const Priority priority = entry.event == Event::high_message ? Priority::high : Priority::low;
        ASSERT_EQ(ni_.visible().data[0], handled[index(priority)]++);
      }
    } else if (!preempted.empty() && random.one_in(3)) {
      const Context before = preempted.back();
      preempted.pop_back();
      ASSERT_EQ(ni_.hret(), before.pc);
      ASSERT_EQ(ni_.visible().data, before.registers.data);
      ASSERT_EQ(ni_.visible().temporary, before.registers.temporary);
      if (!before.high) {
        ASSERT_EQ(ni_.nicond(), before.nicond);
      }
    } else {
      ni_.visible().temporary[random.below(2)] = static_cast<Word>(random());
      if (preempted.empty() || !preempted.back().high) {  // a high handler should not send (A.9.1)
        static_cast<void>(
            ni_.send({.priority = random.one_in(2) ? Priority::high : Priority::low}, 1, handler));
      }
    }
  }
  EXPECT_GT(handled[0], 100u);
  EXPECT_GT(handled[1], 100u);
}

}  // namespace network_interface_test
