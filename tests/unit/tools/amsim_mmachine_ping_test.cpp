// What an empty message and its answer cost on an M-Machine (thesis, 1.3, 7.2.2).
#include "amsim/mmachine/ping.hpp"

#include <gtest/gtest.h>

namespace amsim_mmachine_ping_test {

using namespace amsim::mmachine;

/// "A round-trip message to the nearest-neighbor processor takes only 38 cycles" (1.3): two times 5 to send, 11 on the way, 3 to dispatch.
TEST(MMachinePing, ANeighbourAnswersIn38Cycles) {
  for (const NodeNumber to : {1u, 2u}) {
    const PingTimes times = ping({.width = 2, .height = 2}, 0, to);
    EXPECT_EQ(times.sent, 5u);
    EXPECT_EQ(times.came, 5u + 11u);
    EXPECT_EQ(times.handled, 19u) << "a datum is in remote memory (Figure 3-2)";
    EXPECT_EQ(times.answered, 38u);
  }
}

}  // namespace amsim_mmachine_ping_test
