// A CARE machine, word by word: criteria CA-1 to CA-9, CA-17, CA-19, CA-20 and C-2 (Byrd, Nakano and Delagi 1987, 2 to 4).
#include "emulated_hw/care/machine.hpp"

#include "emulated_hw/care/zero_load_latency.hpp"
#include "random_lists.hpp"
#include "unit/emulated_hw/orders.hpp"

namespace am::care::machine_test {

using kit::Grid;
using kit::Hypercube;
using Words = std::vector<std::uint32_t>;

const kit::Topology grid = Grid{{4}, {4}};
const kit::Topology torus = Grid{{4, true}, {4, true}};
const kit::Topology cube = Hypercube(4);

void run_dry(Machine& machine) {
  machine.run_or_throw([&] { return machine.is_empty(); });
}

/// CA-9, 4.6: an entry takes a cycle, and the router adds nothing; but with one word a net-output cannot know whether an entry is its last one
/// before the next has come, so a list on one way takes 1 or 2 cycles more on each link. What the text leaves out costs that.
TEST(CareMachine, AListTakesUpToTwoCyclesMoreOnALink) {
  constexpr unsigned links = 11;
  constexpr std::uint32_t words = 8;
  for (const auto& [targets, more] :
       {std::pair{1u, 0u}, {2u, links}, {3u, 2 * links - 1}, {6u, 2 * links + 2}}) {
    Machine machine(Grid{{links + 1}});
    std::vector<Target> list;
    for (NodeNumber i = 0; i < targets; ++i) list.push_back({links - i});
    machine.send(0, list, Words(words));
    run_dry(machine);
    EXPECT_EQ(machine.delivered(links).at(0).at, zero_load_latency(links, words) + more) << targets;
  }
}

/// CA-1, Figure 1: a pair of net-input and net-output for the operator, and one for each channel. CA-3: one word in each, whatever a packet's
/// length: nothing of a site but its fifo-buffers and its operator grows.
TEST(CareMachine, SitesStoreAWordInEachInputAndOutput) {
  for (const std::uint32_t words : {10u, 1000u}) {
    Machine machine(grid, {.buffer_size = 4, .timeouts = {.limit = 10'000}});
    machine.send(5, {{0}, {15}, {6}}, Words(words));
    std::size_t most = 0;
    while (!machine.is_empty()) {
      machine.step();
      std::size_t stored = 0;
      for (NodeNumber node = 0; node < machine.nodes(); ++node) {
        const Site& site = machine.site(node);
        ASSERT_EQ(site.ports(), 5u);
        for (PortNumber port = 0; port < 5; ++port)
          stored += std::size_t{site.inputs[port].stores_a_word()} + site.outputs[port].stores_a_word();
        ASSERT_LE(site.upstream.queue().places(), 4u);
      }
      most = std::max(most, stored);
    }
    EXPECT_LE(most, 2u * 5 * 16);
    EXPECT_EQ(machine.delivered(15).at(0).data.size(), words);
  }
}

/// C-2, CA-4: at the granularity of phases nobody can see in which order sites are stepped, or that idle ones are not.
TEST(CareMachine, LooksTheSameInWhateverOrderItIsStepped) {
  test::expect_the_same_in_any_order(16, 100, [](auto next) {
    RandomLists lists(grid, {.timeouts = {.limit = 60}}, {.seed = 3, .most_targets = 8});
    for (Cycle cycle = 0; cycle < 800; ++cycle) lists.cycle(next());
    EXPECT_GT(lists.machine().counts().aborts, 0u);
    return lists.machine().fingerprint();
  });
}

/// CA-19, CA-20, CA-16, CA-17: random lists of 1 to 16 targets at saturation, small and unbounded buffers, all strategies: each target once.
/// Where ways may lead away from a target, a packet that runs in a circle at the end is not lost.
void bring_each_once(Cycle cycles) {
  struct One {
    kit::Topology topology;
    Options options;
    Preferences::Strategy strategy;
    bool has_circles = false;
  };
  for (const auto& [topology, options, strategy, has_circles] :
       {One{grid, {}, Preferences::closest_first, true},
        One{torus, {.buffer_size = 6}, Preferences::one_only},
        One{cube, {.timeouts = {.limit = 64}}, Preferences::nearer_only},
        One{Grid{{8}, {8}}, {.seek_threshold = 4}, Preferences::one_only}}) {
    const std::uint64_t seed = test::seed();
    RandomLists lists(topology, options, {.seed = seed, .most_targets = 16}, strategy);
    while (lists.machine().now() < cycles / kit::nodes_of(topology) * 16) lists.cycle();
    lists.finish();
    const Counts& counts = lists.machine().counts();
    EXPECT_TRUE(lists.machine().is_empty() || has_circles);
    EXPECT_TRUE(lists.lost() == 0 || !lists.machine().is_empty());
    EXPECT_EQ(lists.unexpected(), 0u);
    EXPECT_GT(counts.splits, 0u);
    EXPECT_GT(counts.aborts, 0u);
    EXPECT_GT(counts.partial_finds, 0u);
    EXPECT_GT(counts.forced_stores, 0u);
    EXPECT_GT(counts.dropped_pads, 0u);
    EXPECT_GT(counts.retransmissions, 0u);
  }
}
TEST(CareMachine, BringsEachTargetOnce) { bring_each_once(100'000); }
TEST(CareMachine, BringsEachTargetOnce_night) { bring_each_once(1'000'000); }

/// CA-9: the preference tables: (1), (2), and a user's own; directions by comparisons in a grid and a torus, by exclusive or in a hypercube.
TEST(CareRouter, ConsidersNetOutputsByPreference) {
  using List = Preferences::List;
  const auto list = [](const kit::Topology& topology, const Preferences::Strategy& strategy,
                       NodeNumber there) {
    const Preferences preferences(topology, strategy);
    return preferences.list(5, there);
  };
  EXPECT_EQ(list(grid, Preferences::closest_first, 15), (List{1, 3, 2, 4})) << "right or up";
  EXPECT_EQ(list(grid, Preferences::one_only, 15), (List{1}));
  EXPECT_EQ(list(grid, Preferences::closest_first, 4), (List{2, 1, 3, 4})) << "left";
  EXPECT_EQ(list(torus, Preferences::closest_first, 13), (List{3, 1, 2, 4})) << "half way round: up";
  EXPECT_EQ(list(torus, Preferences::one_only, 0), (List{2})) << "left, and down";
  EXPECT_EQ(list(cube, Preferences::closest_first, 5 ^ 0b1010), (List{2, 4, 1, 3}));
  const auto last_nearer = [](kit::Ports direction, unsigned) {
    return List{static_cast<PortNumber>(std::bit_width(direction) - 1)};
  };
  EXPECT_EQ(list(cube, last_nearer, 5 ^ 0b1010), (List{4}));
  Machine machine(cube, {}, last_nearer);
  machine.send(0, {{15}}, {});
  for (NodeNumber there = 8; !machine.is_empty(); machine.step()) {
    if (machine.site(there).inputs[4].machine().is(net_input::State::open)) there = 15;
  }
  EXPECT_EQ(machine.delivered(15).size(), 1u);
  EXPECT_THROW(Preferences(grid, [](kit::Ports, unsigned) { return List{}; }), std::invalid_argument);
  EXPECT_THROW(Preferences(grid, [](kit::Ports, unsigned) { return List{5}; }), std::invalid_argument);
  EXPECT_THROW(Preferences(kit::FatTree::k_ary(2, 2), Preferences::one_only), std::invalid_argument);
}

/// CA-5: a list with the sender, with one site twice, or with one site only, which is a unicast. Refused: none, one outside.
TEST(CareMachine, TakesAnyList) {
  Machine machine(grid);
  machine.send(5, {{5, 1}, {9, 2}, {9, 3}, {0, 4}}, {1, 2});
  run_dry(machine);
  EXPECT_EQ(machine.delivered(5).size(), 1u);
  EXPECT_EQ(machine.delivered(0).size(), 1u);
  ASSERT_EQ(machine.delivered(9).size(), 2u);
  EXPECT_EQ(machine.delivered(9)[1].target, (Target{9, 3}));
  const std::uint64_t splits = machine.counts().splits;
  machine.send(5, {{9, 1}, {9, 2}}, {1, 2});
  run_dry(machine);
  EXPECT_EQ(machine.delivered(9).size(), 4u);
  EXPECT_EQ(machine.counts().splits, splits) << "all targets of a unicast reside on a single site";
  EXPECT_THROW(machine.send(5, {}, {}), std::invalid_argument);
  EXPECT_THROW(machine.send(5, {{16}}, {}), std::invalid_argument);
  EXPECT_THROW(Machine(grid, {.buffer_size = 0}), std::invalid_argument);
  EXPECT_THROW(Machine(grid, {.timeouts = {.limit = 0}}), std::invalid_argument);
}

/// CA-17 (3.4): without timeouts unicasts get through, however many.
void send_unicasts_without_timeouts(Cycle cycles) {
  for (const auto& strategy : {Preferences::nearer_only, Preferences::one_only}) {
    RandomLists lists(torus, {.timeouts = {Timeouts::Kind::off, 1}},
                      {.seed = test::seed(), .most_targets = 1}, strategy);
    while (lists.machine().now() < cycles) lists.cycle();
    lists.finish();
    EXPECT_EQ(lists.lost() + lists.unexpected(), 0u);
    EXPECT_EQ(lists.machine().counts().splits, 0u);
  }
}
TEST(CareMachine, UnicastsNeedNoTimeouts) { send_unicasts_without_timeouts(5'000); }
TEST(CareMachine, UnicastsNeedNoTimeouts_night) { send_unicasts_without_timeouts(1'000'000); }

/// CA-22b: words leave when their circuit is complete. Who finds a link taken waits for it, and holds those that it has; and they come down behind
/// the last word.
TEST(CareMachine, ACircuitIsHeldWhileWordsPassAndWhileItWaits) {
  const Grid line{{6}};
  Machine machine(line, {.seek_threshold = 1'000'000, .switching = Switching::circuits},
                  Preferences::one_only);
  const std::vector<std::uint32_t> words(50, 7);
  const PacketNumber longest = machine.send(1, {{5}}, words);
  const PortNumber right = 1;
  const auto holder = [&](NodeNumber site) { return machine.site(site).outputs[right].packet(); };
  while (machine.site(5).upstream.is_idle()) machine.step();
  EXPECT_EQ(machine.link_words(), 4u) << "the front, over each link";
  const PacketNumber waits = machine.send(0, {{2}}, words);
  for (int i = 0; i < 20; ++i) machine.step();
  EXPECT_EQ(machine.site(0).carried(right), 1u);
  EXPECT_EQ(machine.site(1).inputs[2].sought(), 2u);
  const PacketNumber behind = machine.send(0, {{1}}, {});
  for (; machine.delivered(5).empty(); machine.step()) {
    if (machine.site(1).carried(right) > words.size()) continue;
    for (const NodeNumber site : {1u, 2u, 3u, 4u}) EXPECT_EQ(holder(site), longest);
    EXPECT_EQ(holder(0), waits);
    EXPECT_EQ(machine.site(0).carried(right), 1u);
  }
  run_dry(machine);
  EXPECT_EQ(machine.delivered(5).at(0).data, words);
  EXPECT_EQ(machine.delivered(2).at(0).data, words);
  EXPECT_EQ(machine.delivered(1).at(0).packet, behind);
  EXPECT_EQ(machine.counts().forced_stores, 0u);
}

/// A circuit leads to one site: a list goes to the first, and its operator sends it on. Over the threshold a site stores what comes to it.
TEST(CareMachine, CircuitsBringEachTargetOnce) {
  for (const unsigned threshold : {4u, 16u}) {
    RandomLists lists(grid, {.seek_threshold = threshold, .switching = Switching::circuits},
                      {.seed = test::seed(), .most_targets = 4}, Preferences::nearer_only);
    while (lists.machine().now() < 5'000) lists.cycle();
    lists.finish();
    EXPECT_EQ(lists.lost() + lists.unexpected(), 0u);
    EXPECT_EQ(lists.machine().counts().splits, 0u);
    EXPECT_GT(lists.machine().counts().forced_stores, 0u);
  }
}

/// [V] The text says nothing of it: with all net-outputs in its list, a unicast may run behind its own tail for ever. It seeks nothing, so nobody
/// waits. The same load with those that lead nearer gets through.
TEST(CareMachine, APacketLedAwayMayRunInACircle) {
  for (const bool nearer : {false, true}) {
    RandomLists lists(grid, {}, {126'720, 1, 8, 1},
                      nearer ? Preferences::nearer_only : Preferences::closest_first);
    while (lists.machine().now() < 1500) lists.cycle();
    lists.finish();
    EXPECT_EQ(lists.machine().is_empty(), nearer);
    EXPECT_EQ(lists.lost(), nearer ? 0u : 2u);
    EXPECT_LE(lists.machine().still_for(), 10u);
  }
}

}  // namespace am::care::machine_test
