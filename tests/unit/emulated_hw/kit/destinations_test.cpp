// Where packets go, pattern by pattern, and which networks have no such traffic.
#include "emulated_hw/kit/destinations.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace am::kit::destinations_test {

using Pattern = Traffic::Pattern;
const Grid mesh{{4}, {4}};

std::vector<NodeNumber> all_of(const Topology& topology, const Traffic& traffic) {
  const Destinations destinations(topology, traffic);
  std::mt19937_64 random(1);
  std::vector<NodeNumber> all;
  for (NodeNumber node = 0; node < nodes_of(topology); ++node) all.push_back(destinations.next(node, random));
  return all;
}

TEST(Destinations, OfEachPatternAreAsItSays) {
  using All = std::vector<NodeNumber>;
  EXPECT_EQ(all_of(mesh, {.pattern = Pattern::transpose}),
            (All{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}));
  EXPECT_EQ(all_of(mesh, {.pattern = Pattern::neighbor}),
            (All{5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0}));
  EXPECT_EQ(all_of(Hypercube(3), {.pattern = Pattern::bitcomp}), (All{7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(all_of(Hypercube(3), {.pattern = Pattern::bitrev}), (All{0, 4, 2, 6, 1, 5, 3, 7}));
  EXPECT_EQ(all_of(FatTree::k_ary(2, 3), {.pattern = Pattern::shuffle}), (All{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(all_of(Grid{{8}}, {.pattern = Pattern::tornado}), (All{3, 4, 5, 6, 7, 0, 1, 2}));
  EXPECT_EQ(all_of(Grid{{5, true}, {2}}, {.pattern = Pattern::tornado}), (All{2, 3, 4, 0, 1, 7, 8, 9, 5, 6}));
  for (const Pattern pattern : patterns)
    EXPECT_EQ(all_of(Grid{{1}}, {.pattern = pattern}), All{0}) << name_of(pattern);
}

TEST(Destinations, OfAPermutationAreAllNodes) {
  std::map<std::uint64_t, std::vector<NodeNumber>> by_seed;
  for (const std::uint64_t seed : {0u, 1u}) {
    const Traffic traffic{.pattern = Pattern::randperm, .perm_seed = seed};
    by_seed[seed] = all_of(FatTree::k_ary(3, 3), traffic);
    EXPECT_EQ(by_seed[seed], all_of(FatTree::k_ary(3, 3), traffic));
  }
  EXPECT_NE(by_seed[0], by_seed[1]);
  std::ranges::sort(by_seed[0]);
  for (NodeNumber node = 0; node < 27; ++node) EXPECT_EQ(by_seed[0][node], node);
}

/// Shares within six times the deviation of what is drawn.
TEST(Destinations, AreUniformButForHotSpots) {
  constexpr int packets = 40'000;
  for (const bool hot : {false, true}) {
    const Destinations destinations(
        mesh,
        {.pattern = hot ? Pattern::hotspot : Pattern::uniform, .hotspots = {3, 12}, .hotspot_share = 0.5});
    std::mt19937_64 random(test::seed());
    std::array<int, 16> came{};
    for (int i = 0; i < packets; ++i) ++came[destinations.next(7, random)];
    for (NodeNumber node = 0; node < 16; ++node) {
      const double share = !hot ? 1 / 16.0 : node == 3 || node == 12 ? 0.25 + 0.5 / 16 : 0.5 / 16;
      EXPECT_NEAR(came[node], packets * share, 6 * std::sqrt(packets * share)) << node;
    }
  }
}

TEST(Destinations, RefuseWhatANetworkDoesNotHave) {
  const auto why = [](const Topology& topology, const Traffic& traffic) -> std::string {
    try {
      static_cast<void>(Destinations(topology, traffic));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  const FatTree tree = FatTree::k_ary(3, 2);
  const std::map<Pattern, std::string> reasons{
      {Pattern::uniform, ""},
      {Pattern::transpose, ""},
      {Pattern::neighbor, "neighbor is for meshes and tori: elsewhere nobody is one further"},
      {Pattern::hotspot, ""},
      {Pattern::bitcomp, "bitcomp is for a power of 2 of nodes, not for 9"},
      {Pattern::bitrev, "bitrev is for a power of 2 of nodes, not for 9"},
      {Pattern::shuffle, "shuffle is for a power of 2 of nodes, not for 9"},
      {Pattern::tornado, "tornado is for meshes and tori: elsewhere nobody is half way round"},
      {Pattern::randperm, ""}};
  for (const auto& [pattern, reason] : reasons) EXPECT_EQ(why(tree, {.pattern = pattern}), reason);
  EXPECT_EQ(why(Hypercube(3), {.pattern = Pattern::transpose}),
            "transpose is for a square number of nodes, not for 8");
  const Pattern hot = Pattern::hotspot;
  EXPECT_EQ(why(tree, {.pattern = hot, .hotspots = {9}}), "hotspots are one or more of 9 nodes");
  EXPECT_EQ(why(tree, {.pattern = hot, .hotspots = {}}), "hotspots are one or more of 9 nodes");
  for (const double share : {-0.1, 1.1})
    EXPECT_EQ(why(tree, {.pattern = hot, .hotspot_share = share}), "hotspot_share is from 0 to 1");
  EXPECT_THAT([] { static_cast<void>(pattern_named("none")); },
              testing::ThrowsMessage<std::invalid_argument>(
                  "traffic is uniform, transpose, neighbor, hotspot, bitcomp, bitrev, shuffle, tornado or "
                  "randperm, not 'none'"));
}

}  // namespace am::kit::destinations_test
