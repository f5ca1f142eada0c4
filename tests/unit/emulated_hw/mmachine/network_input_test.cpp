// The M-Machine's network input unit by hand (thesis, 3.2.2, 4.3, 5.2.4): what a handler reads, whatever comes.
#include "emulated_hw/mmachine/network_input.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.hpp"

namespace network_input_test {

using namespace am::mmachine;

Message message(unsigned words, std::uint64_t number = 1, NodePlace sender = {3, 2}) {
  Message made;
  made.header = {.sender = sender, .argcount = static_cast<std::uint8_t>(words), .ordered = true};
  made.handler = {number, true};
  made.address = {number + 1, true};
  for (unsigned i = 0; i < words; ++i) made.body[i] = {number * 100 + i, false};
  return made;
}

struct Input {
  std::uint8_t faults = 0;
  NetworkInput unit{Priority::p0, faults};

  /// Its flits, as many as have room.
  unsigned take(const Message& message, unsigned from = 0, unsigned to = 100) {
    for (; from < std::min(to, message.flits()) && unit.has_room(); ++from) {
      unit.take(message.flit(from));
      unit.settle();
    }
    return from;
  }
  Word head() {
    EXPECT_TRUE(unit.head_is_there());
    const Word word = unit.head();
    unit.settle();
    return word;
  }
  Word body() {
    EXPECT_TRUE(unit.body_is_there());
    const Word word = unit.body();
    unit.settle();
    return word;
  }
};

TEST(NetworkInput, ThirtyTwoWordsOrFourMessages) {
  Input input;
  EXPECT_EQ(input.take(message(10)), 13u);
  EXPECT_EQ(input.take(message(10)), 13u);
  const Message third = message(10);
  const unsigned first_part = input.take(third);
  EXPECT_EQ(first_part, 3u) << "28 words and 4: of three flits";
  input.head();
  EXPECT_EQ(input.take(third, first_part), first_part + 1) << "its handler's word alone is free";
  Input small;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(small.take(message(0)), 3u);
  EXPECT_EQ(small.take(message(0)), 0u) << "20 words, but a fifth message";
  small.head();
  EXPECT_EQ(small.take(message(0)), 3u);
}

// -- 4.3.1

Flit broken(const Flit& flit) {
  Flit made = flit;
  made.word.bits ^= std::uint64_t{1} << 33;  // of a header: its sender
  return made;
}

TEST(NetworkInput, AWrongHeaderMakesAnErrValAndFourWords) {
  Input input;
  const Message wrong = message(5, 9);
  input.unit.take(broken(wrong.flit(0)));
  input.take(wrong, 1);
  input.take(message(0, 4));
  const Word head = input.head();
  const auto fault = net_parity_fault_of(head);
  ASSERT_TRUE(fault);
  EXPECT_EQ(*fault, (NetParityFault{.count = 1, .ordered = true, .argument_count = 5, .sender = {2, 2}}));
  EXPECT_EQ(jump(Privilege::system, head).violation, Violation::error_value) << "nobody runs it";
  EXPECT_EQ(input.body().bits, 5u);
  EXPECT_EQ(input.body().bits, nid_of({2, 2}));
  EXPECT_EQ(input.body(), wrong.address);
  EXPECT_EQ(input.body(), past_the_tail()) << "the rest of it is gone";
  EXPECT_EQ(input.head().bits, 4u);
  EXPECT_EQ(input.faults, 1);
}

TEST(NetworkInput, AWrongWordIsAnErrValInItsPlace) {
  for (unsigned at = 1; at < 6; ++at) {
    Input input;
    input.faults = 255;  // eight bits
    const Message wrong = message(3, 9);
    for (unsigned i = 0; i < wrong.flits(); ++i)
      input.unit.take(i == at ? broken(wrong.flit(i)) : wrong.flit(i));
    std::vector<Word> read{input.head()};
    for (int i = 0; i < 6; ++i) read.push_back(input.body());
    const std::vector<Word> sent = {wrong.handler, {3, false},    {nid_of({3, 2}), false},
                                    wrong.address, wrong.body[0], wrong.body[1],
                                    wrong.body[2]};
    for (unsigned i = 0; i < sent.size(); ++i) {
      const bool is_it = i == (at == 1 ? 0 : at + 1);
      EXPECT_EQ(net_parity_fault_of(read[i]).has_value(), is_it) << at << ", " << i;
      if (!is_it) {
        EXPECT_EQ(read[i], sent[i]);
      }
    }
    EXPECT_EQ(input.body(), past_the_tail());
    EXPECT_EQ(input.faults, 0);
  }
}

/// Whatever is read when, words come as they were sent, or are dropped with their message. An instruction that is squashed has read
/// nothing: the room that its read has made is given to nobody before it is settled.
TEST(NetworkInput, AgainstAListOfMessages) {
  test::Random random(test::seed());
  Input input;
  std::vector<Message> sent;
  std::size_t sending = 0, reading = 0;
  unsigned at = 0, word = 0;
  const auto expected = [&](const Message& of, unsigned i) -> Word {
    if (i == 1) return {of.header.argcount, false};
    if (i == 2) return {nid_of(of.header.sender), false};
    return i == 3 ? of.address : of.body[i - 4];
  };
  const auto take = [&](std::uint64_t flits) {
    for (; flits != 0 && input.unit.has_room(); --flits) {
      if (sending == sent.size())
        sent.push_back(message(static_cast<unsigned>(random.below(13)), 20 * sent.size() + 5));
      input.unit.take(sent[sending].flit(at));
      if (++at == sent[sending].flits()) ++sending, at = 0;
    }
  };
  for (int step = 0; step < 200'000; ++step) {
    input.unit.settle();
    if (random.one_in(8)) input.unit.undo();    // which has nothing to undo
    const bool is_slow = step / 1000 % 2 != 0;  // so a handler finds its message half there
    take(random.below(is_slow ? 2 : 3));
    const bool reads_head = random.one_in(6) && input.unit.head_is_there();
    if (!reads_head && !input.unit.body_is_there()) continue;
    const bool ended = reading == 0 || word >= 4u + sent[reading - 1].header.argcount;
    const Word read = reads_head ? input.unit.head() : input.unit.body();
    if (reads_head) {
      ASSERT_EQ(read, sent[reading].handler);
    } else {
      ASSERT_EQ(read, ended ? past_the_tail() : expected(sent[reading - 1], word));
    }
    take(random.below(is_slow ? 2 : 8));
    if (random.one_in(4)) {
      input.unit.undo();
    } else if (reads_head) {
      ++reading, word = 1;
    } else if (!ended) {
      ++word;
    }
  }
  EXPECT_GT(reading, 5000u);
}

}  // namespace network_input_test
