#include "emulated_hw/kit/arbiter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "emulated_hw/kit/allocator.hpp"
#include "emulated_hw/kit/flit.hpp"
#include "support/random.hpp"

namespace am::kit {
namespace arbiter_test {

TEST(RoundRobin, GivesEachItsTurn) {
  RoundRobin arbiter;
  std::vector<unsigned> winners;
  for (int i = 0; i < 7; ++i) {
    winners.push_back(arbiter.pick(0b1011));
    arbiter.had_its_turn(winners.back());
  }
  EXPECT_EQ(winners, (std::vector<unsigned>{0, 1, 3, 0, 1, 3, 0}));
}

TEST(RoundRobin, StaysWhereAPickWasNotTakenUp) {
  RoundRobin arbiter;
  EXPECT_EQ(arbiter.pick(0b110), 1u);
  EXPECT_EQ(arbiter.pick(0b110), 1u);
  arbiter.had_its_turn(1);
  EXPECT_EQ(arbiter.pick(0b110), 2u);
}

TEST(RoundRobin, WorksAtBothEndsOfTheWord) {
  RoundRobin arbiter;
  const Requests ends = request(0) | request(63);
  EXPECT_EQ(arbiter.pick(ends), 0u);
  arbiter.had_its_turn(0);
  EXPECT_EQ(arbiter.pick(ends), 63u);
  arbiter.had_its_turn(63);
  EXPECT_EQ(arbiter.pick(ends), 0u);
}

/// Who keeps asking waits for at most one turn of each of the others, whatever they do.
TEST(RoundRobin, LetsNobodyWaitForLong) {
  test::Random random(test::seed());
  RoundRobin arbiter;
  std::array<int, 64> waited{};
  Requests asking = 0;
  for (int i = 0; i < 20'000; ++i) {
    asking |= random() & random();
    if (asking == 0) continue;
    const unsigned winner = arbiter.pick(asking);
    ASSERT_NE(asking & request(winner), 0u);
    arbiter.had_its_turn(winner);
    asking &= ~request(winner);
    waited[winner] = 0;
    for_each(asking, [&](unsigned who) { ASSERT_LT(++waited[who], 64); });
  }
}

/// Each input and each output at most once, nobody what was not asked for; and not nothing, where something was.
TEST(Allocator, MatchesInputsAndOutputs) {
  test::Random random(test::seed());
  Allocator<9, 64> allocator;
  for (int round = 0; round < 20'000; ++round) {
    std::array<Requests, 9> wants{};
    Allocator<9, 64>::Asked asked;
    for (std::uint64_t n = random.below(12); n != 0; --n) {
      const auto input = static_cast<unsigned>(random.below(9));
      const Requests outputs = random() & random() & random();
      asked.ask(input, outputs);
      wants[input] |= outputs;
    }
    Requests inputs = 0;
    Requests outputs = 0;
    allocator.allocate(asked, [&](unsigned input, unsigned output) {
      ASSERT_NE(wants[input] & request(output), 0u);
      ASSERT_EQ(inputs & request(input), 0u);
      ASSERT_EQ(outputs & request(output), 0u);
      inputs |= request(input);
      outputs |= request(output);
    });
    const bool any = std::ranges::any_of(wants, [](Requests one) { return one != 0; });
    ASSERT_EQ(inputs != 0, any);
  }
}

TEST(Allocator, LetsTwoTakeTurnsAtOneOutput) {
  Allocator<2, 1> allocator;
  std::vector<unsigned> winners;
  for (int i = 0; i < 4; ++i) {
    Allocator<2, 1>::Asked asked;
    asked.ask(0, 1);
    asked.ask(1, 1);
    allocator.allocate(asked, [&](unsigned input, unsigned /*output*/) { winners.push_back(input); });
  }
  EXPECT_EQ(winners, (std::vector<unsigned>{0, 1, 0, 1}));
}

TEST(Flit, SaysWhatItWasMadeOf) {
  EXPECT_FALSE(Flit());
  for (const bool head : {false, true}) {
    for (const bool tail : {false, true}) {
      const Flit flit({.packet = 0xfedcba98, .destination = 0xfedc, .vc = 31, .head = head, .tail = tail});
      EXPECT_TRUE(flit);
      EXPECT_EQ(flit.packet(), 0xfedcba98u);
      EXPECT_EQ(flit.destination(), 0xfedcu);
      EXPECT_EQ(flit.vc(), 31u);
      EXPECT_EQ(flit.is_head(), head);
      EXPECT_EQ(flit.is_tail(), tail);
      EXPECT_EQ(flit.on(2).vc(), 2u);
      EXPECT_EQ(flit.on(2).on(31), flit);
    }
  }
  EXPECT_TRUE(Flit(Flit::Parts{}));
}

}  // namespace arbiter_test
}  // namespace am::kit
