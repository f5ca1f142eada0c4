// Groups and grids as values, and sizes around a packet. All else is for tests/conformance/multicast_test.cpp.
#include <am/multicast.hpp>

#include <thread>

#include "support/job.hpp"

namespace am::multicast_test {

using namespace test;

std::vector<NodeId> members(const Group& group) { return {group.members().begin(), group.members().end()}; }

TEST(Group, IsASetInAscendingOrder) {
  EXPECT_EQ(members(Group{5, 1, 5, 3, 1}), (std::vector<NodeId>{1, 3, 5}));
  EXPECT_EQ(members(Group(std::vector<NodeId>{7, 7})), std::vector<NodeId>{7});
  EXPECT_EQ((Group{2, 1}), (Group{1, 2, 2}));
  EXPECT_TRUE(Group().empty());
  const Group group{4, 0, 9};
  EXPECT_EQ(group.size(), 3u);
  EXPECT_TRUE(group.contains(4));
  EXPECT_FALSE(group.contains(5));
  EXPECT_EQ(group.without(4), (Group{0, 9}));
  EXPECT_EQ(group.without(5), group);
}

TEST(Grid, LiesOverTheNodesRowAfterRow) {
  test::run_job({Nodes::threads}, 7, [](Node& node) {
    const Grid grid(node, 2, 3);
    check_equal(grid.at(0, 0), 0u, "(0, 0)");
    check_equal(grid.at(1, 2), 5u, "(1, 2)");
    check_equal(grid.row_of(4), 1u, "row of 4");
    check_equal(grid.column_of(4), 1u, "column of 4");
    check(grid.row(1) == Group{3, 4, 5}, "row 1");
    check(grid.column(2) == Group{2, 5}, "column 2");
    check(grid.patch(0, 1, 1, 2) == Group{1, 2, 4, 5}, "a patch");
    check(grid.patch(1, 2, 0, 1) == grid.patch(0, 1, 1, 2), "from its other corners");
    check(grid.patch(0, 2, 1, 1) == grid.patch(0, 1, 1, 2), "from its other corners");
    check(grid.patch(1, 1, 1, 1) == Group{4}, "one place");
    if (node.id() < 6) {
      check(grid.row() == grid.row(node.id() / 3), "its own row");
      check(grid.column() == grid.column(node.id() % 3), "its own column");
    } else {
      check_throws<Error>([&] { static_cast<void>(grid.row()); }, "node 6 lies outside");
    }
    check_throws<Error>([&] { static_cast<void>(grid.at(2, 0)); }, "not row 2, column 0");
    check_throws<Error>([&] { static_cast<void>(grid.row(2)); }, "row 2");
    check_throws<Error>([&] { static_cast<void>(grid.column(3)); }, "column 3");
    check_throws<Error>([&] { static_cast<void>(grid.patch(0, 0, 1, 3)); }, "column 3");
    check_throws<Error>([&] { static_cast<void>(grid.column_of(6)); }, "node 6");
  });
}

TEST(Grid, ThatDoesNotFitIsAnError) {
  test::run_alone([](Node& node) {
    check_equal(Grid(node, 1, 1).row().size(), 1u, "a grid of one");
    check_throws<Error>([&] { static_cast<void>(Grid(node, 0, 1)); }, "hold nobody");
    check_throws<Error>([&] { static_cast<void>(Grid(node, 1, 0)); }, "hold nobody");
    check_throws<Error>([&] { static_cast<void>(Grid(node, 1, 2)); }, "do not fit a job of 1");
    check_throws<Error>([&] { static_cast<void>(Grid(node, 1u << 16, 1u << 16)); }, "do not fit");
  });
}

/// What came, and from whom.
struct Heard {
  std::size_t messages = 0;
  std::vector<std::byte> last{};
  NodeId from = 0;
};

void request(Request& message, std::uint32_t, Payload payload) {
  check(message.is_multicast(), "marked");
  message.state<Heard>() = {
      message.state<Heard>().messages + 1, {payload.bytes().begin(), payload.bytes().end()}, message.from()};
}

TEST(Multicast, PayloadsAroundEveryBoundary) {
  constexpr NodeId nodes = 6;
  test::run_job<Heard>({Nodes::threads}, nodes, [](Node& node, const Heard& heard) {
    // The list of members behind the payload fills up a packet sooner than the payload alone.
    std::vector<std::size_t> sizes = {0, 1, 3, 4};
    for (std::size_t size = 1024 - 4 * (nodes + 1); size <= 1028; ++size) sizes.push_back(size);
    for (const std::size_t size : {2020, 2048, 2049, 100'000})
      sizes.push_back(static_cast<std::size_t>(size));
    const Group all = Group::all(node);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::vector<std::byte> payload(sizes[i], static_cast<std::byte>(i));
      const auto sender = static_cast<NodeId>(i % nodes);
      if (node.id() == sender) check(node.multicast<request>(all, 0u, payload) == Status::ok, "multicast");
      node.wait_until([&] { return heard.messages == i + 1; });
      check(heard.last == payload, "payload of " + std::to_string(sizes[i]) + " bytes");
      check_equal(heard.from, sender, "from");
      node.barrier();  // or the next sender's might overtake this one's
    }
  });
}

void words(Request& message, std::uint64_t) {
  if (message.is_multicast()) ++message.state<Heard>().messages;
}

TEST(Multicast, OfWordsOverSharedMemoryGoesToAllOrToNobody) {
  std::atomic<bool> is_tried = false;  // until then nobody takes anything
  test::run_job<Heard>({Nodes::threads}, 3, [&](Node& node, const Heard& heard) {
    const Group others{1, 2};
    if (node.id() == 0) {
      const auto sent = [&](NodeId to) { return node.engine().network().queued(to, Priority::low); };
      check(node.try_multicast<words>(others, 1) == Status::ok, "connects");
      check(node.try_multicast<words>(others, 2) == Status::ok, "to both");
      while (node.try_request<words>(2, 3) == Status::ok) continue;
      const std::size_t before = sent(1);
      check(before >= 2, "both have come");
      check(node.try_multicast<words>(others, 4) == Status::again, "one has no room");
      check_equal(sent(1), before, "sent to the other");
      is_tried = true;
      node.multicast<words>(others, 5);
    } else {
      while (!is_tried) std::this_thread::yield();
      node.wait_until([&] { return heard.messages == 3; });
    }
    node.barrier();
  });
}

}  // namespace am::multicast_test
