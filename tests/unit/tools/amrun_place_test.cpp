// When nodes are bound, and to which core.
#include "amrun/place.hpp"

#include <gtest/gtest.h>

namespace amrun {
namespace amrun_place_test {

TEST(AmrunPlace, AutomaticBindingWantsACoreForEachNode) {
  EXPECT_TRUE(shall_bind(Bind::automatic, 1, 4, {}));
  EXPECT_TRUE(shall_bind(Bind::automatic, 4, 4, {}));
  EXPECT_FALSE(shall_bind(Bind::automatic, 5, 4, {}));
}

TEST(AmrunPlace, AutomaticBindingWantsNoQuotaBelowWhatIsVisible) {
  EXPECT_TRUE(shall_bind(Bind::automatic, 2, 4, 4.0));
  EXPECT_FALSE(shall_bind(Bind::automatic, 2, 4, 3.5));
}

TEST(AmrunPlace, TheUsersWordCounts) {
  EXPECT_TRUE(shall_bind(Bind::core, 64, 4, 1.0));
  EXPECT_FALSE(shall_bind(Bind::none, 1, 4, {}));
}

TEST(AmrunPlace, NobodyIsBoundWhereCoresAreUnknown) {
  EXPECT_FALSE(shall_bind(Bind::automatic, 1, 0, {}));
  EXPECT_FALSE(shall_bind(Bind::core, 1, 0, {}));
}

TEST(AmrunPlace, NodesTakeCoresInOrderAndInTurns) {
  EXPECT_EQ(core_of(0, 3), 0u);
  EXPECT_EQ(core_of(2, 3), 2u);
  EXPECT_EQ(core_of(3, 3), 0u);
  EXPECT_EQ(core_of(4095, 3), 0u);
}

}  // namespace amrun_place_test
}  // namespace amrun
