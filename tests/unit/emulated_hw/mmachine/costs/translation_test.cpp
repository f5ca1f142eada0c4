#include "emulated_hw/mmachine/costs/translation.hpp"

#include <gtest/gtest.h>

namespace am::mmachine::costs {
namespace translation_test {

struct Cost {
  Cycle cycles;
  std::uint64_t slots;
};
Cost cost(const AddressTranslation& translation, unsigned live) {
  Cluster cluster;
  const Cycle ready = translation.translate(cluster, {}, live).ready;
  return {.cycles = ready, .slots = cluster.slots()};
}

TEST(Translation, ByTheGtlbCostsNothing) {
  const Cost gtlb = cost(AddressTranslation(Translation::gtlb), rpc_words);
  EXPECT_EQ(gtlb.cycles, 0u);
  EXPECT_EQ(gtlb.slots, 0u);
}

/// "Each missed entry costs an additional 16 cycles of latency and 22 cycles of occupancy" (6.4).
TEST(Translation, EachMissedEntryCostsTheSame) {
  const Cost hit = cost(AddressTranslation(Translation::software), 0);
  for (unsigned missed = 1; missed < 4; ++missed) {
    const Cost later = cost(AddressTranslation(Translation::software, missed), 0);
    EXPECT_EQ(later.cycles, hit.cycles + 16 * missed);
    EXPECT_EQ(later.slots, hit.slots + 22 * missed);
  }
}

/// Register pressure "forces the program to spill a number of registers to make way for the lookup" (6.5.3).
TEST(Translation, SpillsOnlyWhenRegistersAreFull) {
  EXPECT_EQ(AddressTranslation::spilled(0), 0u);
  EXPECT_EQ(AddressTranslation::spilled(integer_registers - held_registers - lookup_registers), 0u);
  EXPECT_EQ(AddressTranslation::spilled(rpc_words),
            rpc_words + held_registers + lookup_registers - integer_registers);
  const Cost empty = cost(AddressTranslation(Translation::software), 0);
  const Cost full = cost(AddressTranslation(Translation::software), rpc_words);
  EXPECT_EQ(full.slots - empty.slots, 4u * AddressTranslation::spilled(rpc_words))
      << "address and access, out and in";
  EXPECT_GE(full.cycles, empty.cycles + 4 * AddressTranslation::spilled(rpc_words));
}

TEST(Translation, ALookupIsStepped) {
  Cluster cluster;
  Lookup lookup({});
  unsigned steps = 0;
  bool found = false;
  while (lookup.step(cluster)) {
    ++steps;
    if (lookup.just_found()) {
      EXPECT_FALSE(found) << "once";
      found = true;
      EXPECT_GE(lookup.matches().ready, load_cycles + 2) << "address, load, two operations";
    }
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(cluster.slots(), steps);
  EXPECT_GT(lookup.node().ready, lookup.matches().ready);
}

}  // namespace translation_test
}  // namespace am::mmachine::costs
