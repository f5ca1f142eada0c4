// What routers of all networks are made of: arbiters, allocators, flits, queues, sets of nodes; and what is counted of packets.
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "emulated_hw/kit/allocator.hpp"
#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/fifo.hpp"
#include "emulated_hw/kit/flit.hpp"
#include "emulated_hw/kit/latencies.hpp"
#include "emulated_hw/kit/live_channel.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/kit/wide_requests.hpp"
#include "support/random.hpp"

namespace am::kit::small_parts_test {

TEST(RoundRobin, GivesEachItsTurn) {
  RoundRobin arbiter;
  std::vector<unsigned> winners;
  for (int i = 0; i < 7; ++i) {
    winners.push_back(arbiter.pick(0b1011));
    EXPECT_EQ(arbiter.pick(0b1011), winners.back()) << "it stays where a pick was not taken up";
    arbiter.had_its_turn(winners.back());
  }
  EXPECT_EQ(winners, (std::vector<unsigned>{0, 1, 3, 0, 1, 3, 0}));
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

/// Four words, against what a word does, and against numbers.
TEST(WideRequests, AreAsThoseOfAWordButMore) {
  using Wide = RequestsOf<4>;
  EXPECT_EQ(Wide{}, Wide(0));
  for (unsigned who = 0; who < 256; ++who) {
    const Wide one = only<Wide>(who);
    EXPECT_TRUE(has(one, who) && is_one(one) && !has(~one, who));
    EXPECT_EQ(first_of(one), who);
    EXPECT_EQ(Wide(1) << who, one);
    EXPECT_EQ(only<Wide>(who, false), Wide{});
    const Wide three = only<Wide>(0) | one | only<Wide>(255);
    EXPECT_EQ(is_one(three), false);
    std::vector<unsigned> all;
    for_each(three & ~Wide(1), [&](unsigned number) { all.push_back(number); });
    EXPECT_EQ(all.back(), 255u);
    EXPECT_EQ(Wide(0x8000000000000001) << who & one, one);
    RoundRobinOf<std::uint8_t, Wide> arbiter;
    arbiter.had_its_turn(who);
    EXPECT_EQ(arbiter.pick(three), who < 255 ? 255u : 0u);
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
      EXPECT_EQ(flit.on(31, 1).vc_class(), 1u);
      EXPECT_EQ(flit.on(31, 1).vc(), 31u);
      EXPECT_EQ(flit.on(31, 1).on(31), flit);
    }
  }
  EXPECT_TRUE(Flit(Flit::Parts{}));
}

TEST(Fifo, AgainstADeque) {
  test::Random random(test::seed());
  Fifo<std::uint64_t, 6> fifo;
  std::deque<std::uint64_t> expected;
  for (int step = 0; step < 100'000; ++step) {
    if (random.one_in(2) && fifo.size() != 6) {
      const std::uint64_t item = random();
      fifo.push(item);
      expected.push_back(item);
    } else if (!fifo.empty()) {
      ASSERT_EQ(fifo.front(), expected.front());
      ASSERT_EQ(fifo.pop(), expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(fifo.size(), expected.size());
    ASSERT_EQ(fifo.empty(), expected.empty());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(fifo[i], expected[i]);
  }
}

std::vector<NodeNumber> all_of(const NodeSet& set) {
  std::vector<NodeNumber> all;
  set.for_each([&](NodeNumber node) { all.push_back(node); });
  return all;
}

TEST(NodeSet, HoldsWhatIsPutIn) {
  NodeSet set(130);
  NodeBell().ring();
  for (const NodeNumber node : {129u, 0u, 63u, 64u, 63u}) NodeBell(set, node).ring();
  EXPECT_EQ(all_of(set), (std::vector<NodeNumber>{0, 63, 64, 129}));
  set.erase(63);
  set.erase(5);
  EXPECT_EQ(all_of(set), (std::vector<NodeNumber>{0, 64, 129}));
  EXPECT_FALSE(set.empty());
  set.clear();
  EXPECT_TRUE(set.empty() && all_of(set).empty());
  EXPECT_TRUE(all_of(NodeSet()).empty());
}

// As those do who step nodes: who has nothing to do goes, whom it wakes comes.
TEST(NodeSet, ChangesWhileOneGoesThroughIt) {
  NodeSet set(70);
  for (NodeNumber node = 0; node < 70; ++node) set.put(node);
  std::vector<NodeNumber> seen;
  set.for_each([&](NodeNumber node) {
    seen.push_back(node);
    set.erase(node);
    set.put(0);
  });
  EXPECT_EQ(seen.size(), 70u);
  EXPECT_EQ(all_of(set), (std::vector<NodeNumber>{0}));
}

// Two carriers may bring messages into one channel at once: each flit counts. Each adds as long as the other does.
TEST(Tally, CountsAllThatSeveralAddAtOnce) {
  constexpr std::uint64_t least = 10'000'000;
  Tally<std::uint64_t> tally{};
  std::array<Tally<std::uint64_t>, 2> added{};  // each by one thread
  const auto add = [&](std::size_t mine) {
    for (std::uint64_t n = 0; n < least || added[1 - mine] < least; added[mine] = ++n) tally.add(1);
  };
  std::thread other(add, 1);
  add(0);
  other.join();
  EXPECT_EQ(tally, added[0] + added[1]);
}

/// Ways that end, and meet again, are none; nor does it matter where the circle is begun to be looked for.
TEST(Waits, SayTheCircle) {
  Waits waits;
  waits.add("a", "a waits", {"b", "e"});
  waits.add("b", "b waits", {"nobody", "c", "e"});
  waits.add("e", "e waits", {"nobody"});
  EXPECT_EQ(waits.text(), "a waits\nb waits\ne waits\n");
  waits.add("c", "c waits", {"e", "d"});
  waits.add("d", "d waits", {"b"});
  EXPECT_EQ(waits.text(), "a circle: b -> c -> d -> b\na waits\nb waits\ne waits\nc waits\nd waits\n");
  waits.add("itself", "it waits", {"itself"});
  EXPECT_EQ(waits.circle(), (std::vector<std::string>{"b", "c", "d", "b"}));
}

TEST(Latencies, HaveThePercentilesOfAllOfThem) {
  test::Random random(test::seed());
  Latencies latencies;
  EXPECT_EQ(latencies.percentile(50), 0u);
  EXPECT_EQ(latencies.mean(), 0);
  std::vector<Cycle> all;
  while (all.size() < 1'000) {
    all.push_back(random.below(random.one_in(10) ? 3'000 : 30));
    latencies.add(all.back());
    if (random.one_in(50)) {
      std::ranges::sort(all);
      for (const unsigned percent : {1u, 50u, 95u, 99u, 100u})
        ASSERT_EQ(latencies.percentile(percent), all[(all.size() * percent + 99) / 100 - 1]);
    }
  }
  EXPECT_EQ(latencies.longest(), std::ranges::max(all));
}

}  // namespace am::kit::small_parts_test
