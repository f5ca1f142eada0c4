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

/// The list of 4.3.2.
TEST(NetworkInput, AHandlerReadsHandlerCountSenderAddressBody) {
  Input input;
  input.take(message(2, 7));
  EXPECT_EQ(input.head(), (Word{7, true}));
  EXPECT_EQ(input.body(), (Word{2, false}));
  EXPECT_EQ(input.body(), (Word{nid_of({3, 2}), false}));
  EXPECT_EQ(input.body(), (Word{8, true}));
  EXPECT_EQ(input.body(), (Word{700, false}));
  EXPECT_EQ(input.body(), (Word{701, false}));
  for (int more = 0; more < 50; ++more) {
    EXPECT_EQ(input.body(), past_the_tail()) << "as often as it reads";
    EXPECT_EQ(fault_of(past_the_tail()), Fault::past_tail);
  }
  EXPECT_FALSE(input.unit.head_is_there());
}

TEST(NetworkInput, BeforeTheFirstMessageThereIsNoBody) {
  Input input;
  EXPECT_EQ(input.body(), past_the_tail());
}

TEST(NetworkInput, AHandlerBeginsBeforeTheTailIsThereAndWaitsForIt) {
  Input input;
  const Message coming = message(3);
  input.take(coming, 0, 1);
  EXPECT_FALSE(input.unit.head_is_there()) << "a header alone";
  input.take(coming, 1, 2);
  EXPECT_EQ(input.head(), coming.handler);
  input.body();
  input.body();
  EXPECT_FALSE(input.unit.body_is_there()) << "the address is still to come: no dummy";
  input.take(coming, 2, 5);
  EXPECT_EQ(input.body(), coming.address);
  input.body();
  EXPECT_EQ(input.body(), coming.body[1]);
  EXPECT_FALSE(input.unit.body_is_there());
  input.take(coming, 5);
  EXPECT_EQ(input.body(), coming.body[2]);
  EXPECT_EQ(input.body(), past_the_tail());
}

TEST(NetworkInput, AReadOfMsgHeadDropsWhatIsLeft) {
  Input input;
  input.take(message(5, 1));
  input.take(message(1, 2));
  EXPECT_EQ(input.head().bits, 1u);
  input.body();
  EXPECT_EQ(input.head().bits, 2u);
  for (int i = 0; i < 3; ++i) input.body();
  EXPECT_EQ(input.body().bits, 200u);
  EXPECT_EQ(input.body(), past_the_tail());
}

/// What is still to come of a message that its handler has left is dropped as well.
TEST(NetworkInput, AHandlerMayLeaveAMessageThatHasNotAllCome) {
  Input input;
  const Message first = message(10, 1);
  input.take(first, 0, 4);
  input.head();
  EXPECT_FALSE(input.unit.head_is_there());
  input.take(first, 4);
  EXPECT_FALSE(input.unit.head_is_there());
  input.take(message(0, 2));
  EXPECT_EQ(input.head().bits, 2u);
}

TEST(NetworkInput, ASquashedInstructionHasReadNothing) {
  Input input;
  input.take(message(1, 1));
  input.take(message(0, 2));
  EXPECT_EQ(input.unit.head().bits, 1u);
  input.unit.undo();
  EXPECT_EQ(input.head().bits, 1u);
  EXPECT_EQ(input.unit.body().bits, 1u);
  input.unit.undo();
  EXPECT_EQ(input.unit.body().bits, 1u) << "the count of arguments";
  EXPECT_EQ(input.unit.head().bits, 2u);
  input.unit.undo();
  EXPECT_EQ(input.body().bits, nid_of({3, 2})) << "back in the first message";
  EXPECT_EQ(input.body().bits, 2u);
  EXPECT_EQ(input.unit.body().bits, 100u);
  input.unit.undo();
  EXPECT_EQ(input.body().bits, 100u) << "its tail";
  EXPECT_EQ(input.body(), past_the_tail());
  input.unit.undo();
  input.unit.undo();
  EXPECT_EQ(input.body(), past_the_tail()) << "settled: nothing to undo";
}

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

/// Room that a read has made is given to nobody before it is settled.
TEST(NetworkInput, WhatComesBetweenAReadAndItsUndoOverwritesNothing) {
  test::Random random(test::seed());
  for (int round = 0; round < 2000; ++round) {
    Input input;
    std::vector<Message> sent;
    std::vector<Word> expected;
    for (std::uint64_t number = 0; number < 4; ++number) {
      const Message& one =
          sent.emplace_back(message(static_cast<unsigned>(random.below(13)), 10 * number + 5));
      expected.insert(expected.end(),
                      {one.handler, {one.header.argcount, false}, {nid_of({3, 2}), false}, one.address});
      expected.insert(expected.end(), one.body.begin(), one.body.begin() + one.header.argcount);
    }
    std::size_t sending = 0, reading = 0, next_head = 0;
    unsigned at = 0;
    const auto take = [&] {
      for (auto flits = random.below(8); flits != 0 && sending != sent.size() && input.unit.has_room();
           --flits) {
        input.unit.take(sent[sending].flit(at));
        if (++at == sent[sending].flits()) ++sending, at = 0;
      }
    };
    while (reading != expected.size()) {
      take();
      const bool head = reading == next_head;
      if (head ? !input.unit.head_is_there() : !input.unit.body_is_there()) continue;
      ASSERT_EQ(head ? input.unit.head() : input.unit.body(), expected[reading]);
      take();
      if (random.one_in(2)) {
        input.unit.undo();
        continue;
      }
      input.unit.settle();
      if (head) next_head = reading + 4 + expected[reading + 1].bits;
      ++reading;
    }
  }
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

/// Whatever is read when, words come as they were sent, or are dropped with their message.
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
  for (int step = 0; step < 200'000; ++step) {
    input.unit.settle();
    if (sending == sent.size())
      sent.push_back(message(static_cast<unsigned>(random.below(13)), sent.size() + 5));
    if (!random.one_in(3) && input.unit.has_room()) {
      input.unit.take(sent[sending].flit(at));
      if (++at == sent[sending].flits()) ++sending, at = 0;
    }
    const bool undone = random.one_in(4);
    if (random.one_in(6) && input.unit.head_is_there()) {
      ASSERT_EQ(input.unit.head(), sent[reading].handler);
      if (undone) {
        input.unit.undo();
      } else {
        ++reading, word = 1;
      }
    } else if (reading != 0 && input.unit.body_is_there()) {
      const Message& now = sent[reading - 1];
      const bool ended = word >= 4u + now.header.argcount;
      ASSERT_EQ(input.unit.body(), ended ? past_the_tail() : expected(now, word));
      if (undone) {
        input.unit.undo();
      } else if (!ended) {
        ++word;
      }
    }
  }
  EXPECT_GT(reading, 5000u);
}

}  // namespace network_input_test
