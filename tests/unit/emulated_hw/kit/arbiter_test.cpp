#include "emulated_hw/kit/arbiter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "emulated_hw/kit/flit.hpp"
#include "support/random.hpp"

namespace am::kit {
namespace {

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

}  // namespace
}  // namespace am::kit
