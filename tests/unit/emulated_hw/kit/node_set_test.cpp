#include "emulated_hw/kit/node_set.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace am::kit {
namespace node_set_test {

std::vector<NodeNumber> all_of(const NodeSet& set) {
  std::vector<NodeNumber> all;
  set.for_each([&](NodeNumber node) { all.push_back(node); });
  return all;
}

TEST(NodeSet, HoldsWhatIsPutIn) {
  NodeSet set(130);
  for (const NodeNumber node : {129u, 0u, 63u, 64u, 63u}) set.put(node);
  EXPECT_EQ(all_of(set), (std::vector<NodeNumber>{0, 63, 64, 129}));
  set.erase(63);
  set.erase(5);
  EXPECT_EQ(all_of(set), (std::vector<NodeNumber>{0, 64, 129}));
  set.clear();
  EXPECT_TRUE(all_of(set).empty());
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

TEST(NodeBell, PutsItsNodeIn) {
  NodeSet set(4);
  NodeBell().ring();
  NodeBell(set, 2).ring();
  EXPECT_EQ(all_of(set), (std::vector<NodeNumber>{2}));
}

}  // namespace node_set_test
}  // namespace am::kit
