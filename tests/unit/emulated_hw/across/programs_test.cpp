// One source on every machine: criterion X-4 (docs/emulation.md, "Across the machines").
#include "emulated_hw/across/programs.hpp"

#include <gtest/gtest.h>

namespace am::across::programs_test {

/// Blocks come with their words, however long they are; larger machines take longer.
TEST(AcrossMachines, RunOneSource) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(std::string(kind.name));
    const Cycle next_door = ping(kind.name, 2);
    EXPECT_GT(ping(kind.name, 64), next_door);
    EXPECT_EQ(ping(kind.name, 2), next_door) << "the same every time";
    EXPECT_GT(all_to_all(kind.name, 16), 15u * 5);
    Cycle before = 0;
    for (const unsigned words : {4u, 16u, 32u, 36u, 1024u, Machine::most_block}) {
      const Cycle took = block(kind.name, 4, words);
      EXPECT_GT(took, before);
      before = took;
    }
    EXPECT_GT(stencil(kind.name, 16), inner_cycles + edge_cycles);
    EXPECT_GT(half_round_trip(kind.name, 64), half_round_trip(kind.name, 0));
    EXPECT_GE(burst(kind.name, 10, 1'000), 10'000u);
  }
}

/// dispatch in hardware takes fewer cycles than polls, and these fewer than traps.
TEST(AcrossMachines, StandInTheOrderOfTheirPapers) {
  EXPECT_LT(ping("t1", 2) * 4, ping("cm5", 2));
  EXPECT_LT(ping("mmachine", 2) * 4, ping("cm5", 2));
  EXPECT_LT(ping("cm5", 2), ping("ncube2", 2));
}

TEST(AcrossMachines, RefuseWhatThereIsNot) {
  EXPECT_THROW(static_cast<void>(machine_of("cm2", 4)), std::invalid_argument);
  for (const NodeNumber nodes : {0u, 1u, 3u, 8u, 4096u})
    EXPECT_THROW(static_cast<void>(machine_of("t1", nodes)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(stencil("t1", 2)), std::invalid_argument);
}

}  // namespace am::across::programs_test
