// The M-Machine's network output units by hand (thesis, 3.3.2, 4.2), its messages and its events.
#include "emulated_hw/mmachine/network_output.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/mmachine/event_queue.hpp"
#include "support/random.hpp"

namespace network_output_test {

using namespace am::mmachine;

constexpr std::uint64_t mapped = 5 << 11;
const Word handler = {pointer_bits(PointerType::execute_message, 0, 0x4000), true};

NetworkOutput output(unsigned buffers = 4) {
  NetworkOutput made({1, 2}, {7, 7});
  made.set_buffers(buffers);
  // Eight pages over 2 x 2 nodes from [4, 5] on, one page each (Figure 3-6).
  made.gtlb().write(
      0, {.valid = true, .base = {4, 5}, .log_width = 1, .log_height = 1, .mask = ~std::uint64_t{7}});
  return made;
}
Sent sent(Send what, std::uint64_t address, unsigned argcount = 0) {
  Sent made{.instruction = what, .destination = {address, false}, .handler = handler, .argcount = argcount};
  if (!made.what().is_physical) made.destination = {pointer_bits(PointerType::read_write, 63, address), true};
  return made;
}
const Body body = {{{40, false}, {41, false}, {42, false}}};
bool may(const NetworkOutput& out, Send what, Cycle now, unsigned argcount = 0) {
  return out.may_issue(send_instruction(what), argcount, now);
}
void drain(NetworkOutput& out, Priority priority) {
  while (out.outgoing(priority, 1'000'000) != nullptr) out.gone(priority);
}

TEST(NetworkOutput, AMessageIsItsHeaderAndWordsOneACycle) {
  NetworkOutput out = output();
  const Sent what = sent(Send::isnd0o, mapped, 2);
  EXPECT_EQ(out.issue(what, body, 100), Cycle{5}) << "the condition register";
  // To page 5: one to the right, and round again. The handler can be jumped to from now on.
  const Header header{.destination = {5, 5}, .sender = {1, 2}, .argcount = 2, .ordered = true};
  const Word words[] = {{header.bits(), false}, injected(handler), what.destination, body[0], body[1]};
  for (unsigned at = 0; at < 5; ++at) {
    const Cycle there = 100 + NetworkOutput::output_cycles + at;
    EXPECT_EQ(out.outgoing(Priority::p0, there - 1), nullptr);
    const Flit* const flit = out.outgoing(Priority::p0, there);
    ASSERT_NE(flit, nullptr);
    EXPECT_EQ(flit->word, words[at]) << at;
    EXPECT_EQ(flit->tail, at == 4);
    out.gone(Priority::p0);
  }
  EXPECT_TRUE(out.is_empty());
}

TEST(NetworkOutput, ASendIssuesWithRoomFor13Words) {
  NetworkOutput out = output();
  ASSERT_TRUE(may(out, Send::isnd0, 0));
  out.issue(sent(Send::isnd0, mapped, 1), body, 0);  // 4 words
  EXPECT_FALSE(may(out, Send::isnd0, 100));
  out.gone(Priority::p0);
  EXPECT_TRUE(may(out, Send::isnd0, 100)) << "three of 16";
  EXPECT_TRUE(may(out, Send::isnd0, 100, 10)) << "13 words: the most";
  EXPECT_TRUE(may(out, Send::isnd1pnt, 0, 12));
  out.issue(sent(Send::isnd1pnt, 0), body, 0);
  out.gone(Priority::p1);
  EXPECT_FALSE(may(out, Send::isnd1pnt, 100, 12)) << "a bounced message has 15";
  EXPECT_TRUE(may(out, Send::isnd1pnt, 100, 11));
}

TEST(NetworkOutput, TheUnitIsBusyWhileWordsComeToIt) {
  NetworkOutput out = output();
  out.issue(sent(Send::isnd0, mapped, 10), body, 10);
  drain(out, Priority::p0);
  EXPECT_FALSE(may(out, Send::isnd0, 21));
  EXPECT_TRUE(may(out, Send::isnd0, 22)) << "12 words and no header";
  EXPECT_TRUE(may(out, Send::isnd1pnt, 11)) << "the other one is another";
}

/// Worked by hand: two bounce buffers, three throttled messages.
TEST(NetworkOutput, ThrottledSendsWaitWhileNoBufferIsFree) {
  NetworkOutput out = output(2);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(may(out, i == 0 ? Send::isnd0 : Send::isnd0p, 100));
    out.issue(sent(i == 0 ? Send::isnd0 : Send::isnd0p, i == 0 ? mapped : 0), body, 0);
    drain(out, Priority::p0);
  }
  EXPECT_EQ(out.buffers(), 0u);
  for (const Send throttled :
       {Send::isnd0, Send::fsnd0, Send::isnd0o, Send::fsnd0o, Send::isnd0p, Send::isnd0po})
    EXPECT_FALSE(may(out, throttled, 100));
  for (const Send not_throttled : {Send::isnd0pnt, Send::isnd0pnto, Send::isnd1pnt, Send::fsnd1pnto})
    EXPECT_TRUE(may(out, not_throttled, 100));
  out.issue(sent(Send::isnd0pnt, 0), body, 100);
  EXPECT_EQ(out.buffers(), 0u) << "not counted";
  drain(out, Priority::p0);
  out.give_back_buffer();
  EXPECT_TRUE(may(out, Send::isnd0, 200));
  out.set_buffers(5000);
  EXPECT_EQ(out.buffers(), 1023u) << "ten bits";
  out.give_back_buffer();
  EXPECT_EQ(out.buffers(), 1023u);
}

TEST(NetworkOutput, AMissHoldsOrderedMessagesUntilItIsCleared) {
  NetworkOutput out = output();
  EXPECT_EQ(out.issue(sent(Send::isnd0o, 900 << 11, 3), body, 0), std::nullopt);
  EXPECT_TRUE(out.is_empty());
  EXPECT_EQ(out.buffers(), 3u) << "its buffer stays taken";
  EXPECT_TRUE(out.has_missed());
  EXPECT_FALSE(may(out, Send::isnd0pnt, 7)) << "five words, and three of the event";
  EXPECT_TRUE(may(out, Send::isnd0pnt, 8));
  EXPECT_FALSE(may(out, Send::isnd0o, 100));
  EXPECT_FALSE(may(out, Send::fsnd0o, 100));
  for (const Send others : {Send::isnd0, Send::fsnd0, Send::isnd0po, Send::isnd0pnto, Send::isnd1pnto})
    EXPECT_TRUE(may(out, others, 100));
  out.clear_miss();
  EXPECT_TRUE(may(out, Send::isnd0o, 100));
}

TEST(NetworkOutput, APlaceOutsideTheMeshIsSaidNotLost) {
  NetworkOutput out = output();
  EXPECT_THROW(out.issue(sent(Send::isnd0p, nid_of({8, 0})), body, 0), std::out_of_range);
  EXPECT_EQ(out.issue(sent(Send::isnd0p, nid_of({7, 7})), body, 0), Cycle{3});
}

// -- Figure 4-6 and the event of 4.2.3

TEST(Message, AHeadersFieldsLieWhereTheFigureHasThem) {
  const auto bits = [](const Header& header) {
    EXPECT_EQ(Header::of(header.bits()), header);
    return header.bits();
  };
  EXPECT_EQ(bits({.destination = {31, 0}}), 31u);
  EXPECT_EQ(bits({.destination = {0, 31}}), 31u << 5);
  EXPECT_EQ(bits({.priority = Priority::p1}), 1u << 16);
  EXPECT_EQ(bits({.ordered = true}), 1u << 17);
  EXPECT_EQ(bits({.argcount = 15}), 15u << 18);
  EXPECT_EQ(bits({.turns = {true, false, Priority::p0}}), 1u << 22);
  EXPECT_EQ(bits({.turns = {false, true, Priority::p0}}), 1u << 23);
  EXPECT_EQ(bits({.turns = {false, false, Priority::p1}}), 1u << 24);
  EXPECT_EQ(bits({.sender = {31, 0}}), std::uint64_t{31} << 33);
  EXPECT_EQ(bits({.sender = {0, 31}}), std::uint64_t{31} << 38);
}

TEST(Message, AnyFlippedBitIsSeen) {
  const Flit flit = Flit::of({0x123456789abcdef0, true}, false);
  EXPECT_TRUE(flit.is_whole());
  for (unsigned bit = 0; bit < 64; ++bit) {
    Flit wrong = flit;
    wrong.word.bits ^= std::uint64_t{1} << bit;
    EXPECT_FALSE(wrong.is_whole());
  }
  Flit wrong = flit;
  wrong.word.is_pointer = false;
  EXPECT_FALSE(wrong.is_whole());
  wrong = flit;
  wrong.tail = true;
  EXPECT_FALSE(wrong.is_whole());
}

TEST(EventQueue, AMissIsThreeWords) {
  test::Random random(test::seed());
  EventQueue queue;
  for (int i = 0; i < 1000; ++i) {
    const GtlbMiss miss{.ordered = random.one_in(2),
                        .took_buffer = random.one_in(2),
                        .cluster = static_cast<std::uint8_t>(random.below(3)),
                        .slot = static_cast<std::uint8_t>(random.below(5)),
                        .floating = random.one_in(2),
                        .argcount = static_cast<std::uint8_t>(random.below(11)),
                        .condition = static_cast<std::uint8_t>(random.below(16)),
                        .handler = {random(), true},
                        .destination = {random(), random.one_in(2)}};
    ASSERT_FALSE(queue.is_there());
    queue.put(miss);
    std::array<Word, GtlbMiss::words> read;
    for (Word& word : read) {
      ASSERT_TRUE(queue.is_there());
      word = queue.read();
    }
    ASSERT_EQ(GtlbMiss::of(read), miss);
  }
  for (int i = 0; i < 10; ++i) queue.put({});
  EXPECT_FALSE(queue.has_room()) << "30 of 32 words";
}

}  // namespace network_output_test
