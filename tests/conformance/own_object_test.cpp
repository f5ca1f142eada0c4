// Node::own and am::this_node: what a library on top of libam keeps for each node.
#include <am/am.hpp>

#include <array>

#include "support/check.hpp"
#include "support/job.hpp"

namespace own_object_test {

using test::check;
using test::check_equal;
using OwnObject = test::OnEverySubstrate;

struct Tally {
  explicit Tally(am::Node& its_node) : node(&its_node) {}
  am::Node* node;
  std::uint64_t sum = 0;
};

struct Other {
  explicit Other(am::Node&) {}
  int value = 0;
};

void add(am::Request& request, std::uint64_t value) {
  check(am::this_node() == &request.node(), "a handler's thread has its node");
  request.node().own<Tally>().sum += value;
}

TEST_P(OwnObject, EachNodeHasItsOwnAlsoInHandlers) {
  run(3, [](am::Node& node) {
    check(am::this_node() == &node, "the thread has its node");
    Tally& mine = node.own<Tally>();
    check(&mine == &node.own<Tally>() && mine.node == &node, "one, made with its node");
    node.own<Other>().value = 5;
    node.barrier();
    for (am::NodeId to = 0; to < node.size(); ++to) node.request<add>(to, std::uint64_t{node.id() + 1});
    node.wait_until([&] { return mine.sum == 6; });
    check_equal(node.own<Other>().value, 5, "objects of several types do not touch");
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, OwnObject, test::cells_of<OwnObject>(), test::name_of);

/// What handlers use lives until no handler can run any more, and then goes.
TEST(OwnObjectOfAThread, IsDestroyedWithItsNode) {
  static std::atomic<int> alive = 0;
  struct Counted {
    explicit Counted(am::Node&) { ++alive; }
    ~Counted() { --alive; }
  };
  for (int round = 0; round < 3; ++round) {
    am::run_threads(2, [](am::Node& node) {
      static_cast<void>(node.own<Counted>());
      node.barrier();
      check_equal(alive.load(), 2, "one for each");
      node.barrier();
    });
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(am::this_node(), nullptr);
  }
}

}  // namespace own_object_test
