// The CNS-1's network under its clock, with interfaces that a test fills and empties by hand (T1 report, 3.3, 3.5, 3.9, A.1, A.8).
#include "emulated_hw/t1/mesh.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <numeric>

#include "emulated_hw/t1/nistat.hpp"
#include "support/random.hpp"
#include "unit/emulated_hw/kit/channels.hpp"

namespace t1_mesh_test {

using namespace am::t1;

constexpr Address handler = 0x4000;

/// Interfaces without processors. What comes is taken at once, unless its node is told not to.
class Nodes {
 public:
  explicit Nodes(const Mesh::Shape& shape) {
    for (NodeNumber node = 0; node < shape.rows * shape.columns; ++node)
      interfaces_.emplace_back(node).ctc2(Register::enable, 1);
    takes_.assign(interfaces_.size(), {true, true});
    mesh_ = std::make_unique<Mesh>(shape, [this](NodeNumber node) { return &interfaces_[node]; });
  }

  struct Came {
    Cycle at;
    NodeNumber node;
    Word number;
    Word source;
    Priority priority;
    bool multicast;
    std::vector<Word> vector;
  };
  bool send(NodeNumber from, NodeNumber to, Word number, Send what = {}, unsigned vlr = most_vector) {
    NetworkInterface& ni = interfaces_[from];
    ni.visible().data = {number, from, 0, 0, 0};
    Vector vd;
    std::iota(vd.begin(), vd.end(), number * 100);
    what.scalars = std::max(what.scalars, 2u);
    return ni.send(what, to, handler, vd, vlr);
  }
  void step() {
    mesh_->step();
    for (NodeNumber node = 0; node < interfaces_.size(); ++node) {
      NetworkInterface& ni = interfaces_[node];
      Word masks = 0;
      if (takes_[node][0]) masks |= nistat::lpmm;
      if (takes_[node][1]) masks |= nistat::hpmm;
      ni.ctc2(Register::nistat, nistat::lpee | nistat::ame | masks);
      while (const auto event = ni.next_event()) {
        ni.enter(0);
        const Word status = ni.cfc2(Register::nistat);
        const RegisterSet& set = ni.visible();
        came_.push_back({mesh_->now(),
                         node,
                         set.data[0],
                         set.data[1],
                         event == Event::high_message ? Priority::high : Priority::low,
                         (status & nistat::mcst) != 0,
                         {set.vr1.begin(), set.vr1.begin() + nistat::vlen(status)}});
        ni.hret();
      }
    }
  }
  void until_quiet() {
    for (int i = 0; i < 100'000 && (mesh_->under_way() != 0 || waits_to_go()); ++i) step();
    ASSERT_EQ(mesh_->under_way(), 0u) << am::kit::who_waits(*mesh_);
  }
  [[nodiscard]] bool waits_to_go() const {
    return std::ranges::any_of(interfaces_, [](const auto& ni) {
      return !ni.accepts(Priority::low) || !ni.accepts(Priority::high);
    });
  }
  void take(NodeNumber node, Priority priority, bool yes) { takes_[node][index(priority)] = yes; }
  [[nodiscard]] Mesh& mesh() { return *mesh_; }
  [[nodiscard]] std::vector<Came>& came() { return came_; }

 private:
  std::deque<NetworkInterface> interfaces_;
  std::vector<std::array<bool, 2>> takes_;
  std::unique_ptr<Mesh> mesh_;
  std::vector<Came> came_;
};

std::multiset<NodeNumber> receivers(Nodes& nodes) {
  std::multiset<NodeNumber> all;
  for (const Nodes::Came& one : nodes.came()) all.insert(one.node);
  return all;
}

/// The way of a message by the routing alone: at each node of it, to its last one, at(node, the port by which it came, what is next).
template <class At>
void follow(const am::kit::Grid& grid, NodeNumber from, const Header& header, At at) {
  NodeNumber here = from;
  unsigned in = 0;
  for (unsigned links = 0; links <= grid.nodes(); ++links) {
    const Hop hop = next_hop(grid, here, in, header);
    at(here, in, hop);
    if (hop.port == 0) return;
    here = grid.neighbour(here, hop.port);
    in = am::kit::Grid::opposite(hop.port);
  }
  ADD_FAILURE() << "from node " << from << " to node " << header.destination << " without an end";
}

/// The nodes on the way along a row or a column of six by four nodes. Where both ways along a row are as long, every other node goes up
/// (kit/dimension_order.hpp).
std::multiset<NodeNumber> on_the_way(NodeNumber from, NodeNumber to, bool wraps) {
  const unsigned up = (to - from + 6) % 6;  // in a row
  const bool goes_up = wraps ? up < 3 || (up == 3 && from % 2 == 0) : from < to;
  std::multiset<NodeNumber> all;
  for (NodeNumber node = from; node != to; all.insert(node)) {
    if (from % 6 == to % 6)
      node = from < to ? node + 6 : node - 6;
    else
      node = node / 6 * 6 + (node + (goes_up ? 1 : 5)) % 6;
  }
  return all;
}

// 3.9: "drop off a copy of the packet at every node that is passed, not including the source itself", along rows and columns, each as
// early as a unicast to that node would be there, and with no more bandwidth than one message to the last.
TEST(T1Mesh, LeavesACopyAtEveryNodeOnTheWay) {
  for (unsigned pair = 0; pair < 2 * 24 * 24; ++pair) {
    const NodeNumber from = pair / 24 % 24, to = pair % 24;
    if ((from % 6 != to % 6) == (from / 6 != to / 6)) continue;  // in a row or a column, and not itself
    const bool wraps = pair >= 24 * 24;
    SCOPED_TRACE("from " + std::to_string(from) + " to " + std::to_string(to) + (wraps ? " of a ring" : ""));
    Nodes nodes({.rows = 4, .columns = 6, .wraps = wraps});
    ASSERT_TRUE(nodes.send(from, to, 1, {.vector = true, .multicast = true}));
    nodes.until_quiet();
    const std::multiset<NodeNumber> expected = on_the_way(from, to, wraps);
    EXPECT_EQ(receivers(nodes), expected);
    std::uint64_t flits = 0;
    for (NodeNumber node = 0; node < 24; ++node) {
      for (unsigned port = 1; port < 5; ++port) flits += nodes.mesh().counts(node, port).flits;
    }
    EXPECT_EQ(flits, expected.size() * 9) << "each link once";
    for (const Nodes::Came& one : nodes.came()) {
      EXPECT_TRUE(one.multicast);
      const unsigned hops = am::kit::distance(nodes.mesh().grid(), from, one.node);
      EXPECT_EQ(one.at, 1 + (hops + 1) * 3 + 9 - 1 + 1);
    }
  }
}

// A.1: "Even if low priority messages are backed up, high priority messages can still get to the destination." And A.10: backed up all
// the way to the sender, whose sends fail; nothing is lost.
TEST(T1Mesh, HighPassesHoweverFullLowIs) {
  Nodes nodes({.rows = 1, .columns = 4, .wraps = false});
  nodes.take(3, Priority::low, false);
  Word low = 0;
  for (int i = 0; i < 1000; ++i) {
    for (const NodeNumber from : {0u, 1u, 2u}) {
      if (nodes.send(from, 3, low, {.vector = true})) ++low;
    }
    nodes.step();
  }
  EXPECT_TRUE(nodes.came().empty());
  EXPECT_FALSE(nodes.send(0, 3, low, {}));
  EXPECT_GT(nodes.mesh().still_for(), 500u) << "all is full";
  const Cycle began = nodes.mesh().now();
  ASSERT_TRUE(nodes.send(0, 3, 7, {.priority = Priority::high}));
  while (nodes.came().empty()) nodes.step();
  EXPECT_EQ(nodes.came()[0].number, 7u);
  EXPECT_EQ(nodes.came()[0].at - began, 1u + 4 * 3 + 1)
      << "as without load: low messages hold no link while they wait";
  nodes.take(3, Priority::low, true);
  nodes.until_quiet();
  EXPECT_EQ(nodes.came().size(), low + 1);
}

// 3.5: "if only one priority is being used, it gets the full physical bandwidth"; both at once share it, high first, and low gets through
// all the same.
TEST(T1Mesh, PrioritiesShareTheLinkOnDemand) {
  const auto flits_of = [](bool low, bool high) {
    Nodes nodes({.rows = 1, .columns = 2, .wraps = false, .buffers = 4});
    for (int i = 0; i < 2000; ++i) {
      if (low) static_cast<void>(nodes.send(0, 1, 0, {.vector = true}));
      if (high) static_cast<void>(nodes.send(0, 1, 0, {.vector = true, .priority = Priority::high}));
      nodes.step();
    }
    std::array<double, 2> flits{};
    for (const Nodes::Came& one : nodes.came()) flits[index(one.priority)] += 9;
    return flits;
  };
  const auto low = flits_of(true, false), high = flits_of(false, true), both = flits_of(true, true);
  EXPECT_GT(low[0], 2000 * 0.95);
  EXPECT_GT(high[1], 2000 * 0.95);
  EXPECT_GT(both[0] + both[1], 2000 * 0.95);
  EXPECT_GT(both[1], both[0]);
}

// Deadlock freedom, conservation, order: random loads of all sends with nodes that take a message only now and then, on cylinders and
// meshes; then all is taken. A multicast counts as its copies.
TEST(T1Mesh, KeepsAllInOrderUnderRandomLoads) {
  test::Random random(test::seed());
  for (const Mesh::Shape& shape : {Mesh::Shape{.rows = 4, .columns = 4},
                                   {.rows = 1, .columns = 7, .buffers = 1},
                                   {.rows = 5, .columns = 3, .wraps = false},
                                   {.rows = 3, .columns = 2, .buffers = 1, .patience = 0},
                                   {.rows = 2, .columns = 8, .patience = 255}}) {
    Nodes nodes(shape);
    const NodeNumber count = shape.rows * shape.columns;
    // By sender, priority and destination of each send, its number: unicasts between two nodes are in order.
    std::map<std::tuple<NodeNumber, NodeNumber, Priority>, std::vector<Word>> expected, came;
    std::size_t copies = 0;
    for (int cycle = 0; cycle < 6000; ++cycle) {
      for (NodeNumber from = 0; from < count; ++from) {
        if (!random.one_in(6)) continue;
        const auto to = static_cast<NodeNumber>(random.below(count));
        const auto priority = random.one_in(3) ? Priority::high : Priority::low;
        const bool multicast = random.one_in(8);
        if (!nodes.send(from, to, static_cast<Word>(cycle),
                        {.vector = random.one_in(2), .priority = priority, .multicast = multicast},
                        static_cast<unsigned>(random.below(33))))
          continue;
        if (!multicast) expected[{from, to, priority}].push_back(static_cast<Word>(cycle));
        follow(nodes.mesh().grid(), from, {to, multicast},
               [&](NodeNumber /*here*/, unsigned in, const Hop& hop) {
                 if (hop.port == 0 || (multicast && in != 0)) ++copies;
               });
      }
      for (NodeNumber node = 0; node < count; ++node) {
        for (const Priority priority : {Priority::high, Priority::low})
          nodes.take(node, priority, random.one_in(cycle % 1000 < 500 ? 40 : 3));
      }
      nodes.step();
    }
    for (NodeNumber node = 0; node < count; ++node) {
      for (const Priority priority : {Priority::high, Priority::low}) nodes.take(node, priority, true);
    }
    nodes.until_quiet();
    EXPECT_EQ(nodes.came().size(), copies);
    for (const Nodes::Came& one : nodes.came()) {
      if (!one.multicast) came[{one.source, one.node, one.priority}].push_back(one.number);
      for (unsigned i = 0; i < one.vector.size(); ++i) ASSERT_EQ(one.vector[i], one.number * 100 + i);
    }
    EXPECT_EQ(came, expected);
    EXPECT_GT(copies, 1000u);
  }
}

// Around a ring nobody waits in a circle: who waits for a room of class 1 has passed the edge, or will not (kit/dimension_order.hpp).
TEST(T1Mesh, RoomsAreWaitedForInAnOrder) {
  using am::kit::test_channels::Channel;
  for (unsigned columns = 2; columns <= 9; ++columns) {
    const am::kit::Grid grid{{.extent = columns, .wraps = true}, {.extent = 3, .wraps = false}};
    am::kit::test_channels::Waits waits;
    const auto add_way = [&](NodeNumber from, const Header& header) {
      std::optional<Channel> before;
      follow(grid, from, header, [&](NodeNumber here, unsigned /*in*/, const Hop& hop) {
        if (hop.port == 0) {
          EXPECT_EQ(here, header.destination);
          return;
        }
        const Channel room{here, hop.port, hop.vc_class};
        if (before) waits[*before].insert(room);
        before = room;
      });
    };
    for (NodeNumber from = 0; from < grid.nodes(); ++from) {
      for (NodeNumber to = 0; to < grid.nodes(); ++to) {
        for (const bool multicast : {false, true}) add_way(from, {to, multicast});
      }
    }
    EXPECT_FALSE(am::kit::test_channels::has_circle(waits)) << columns;
  }
}

TEST(T1Mesh, RefusesWhatIsNoMesh) {
  for (const auto& [shape, why] :
       {std::pair<Mesh::Shape, std::string>{{.rows = 0, .columns = 4},
                                            "of 0 rows and 4 columns: it has 1 to 1024"},
        {{.rows = 33, .columns = 32}, "t1: a mesh of 33 rows and 32 columns: it has 1 to 1024 nodes"},
        {{.rows = 65536, .columns = 65536}, "of 65536 rows and 65536 columns: it has 1 to 1024 nodes"},
        {{.buffers = 0}, "t1: buffers of 0 messages: 1 to 255"},
        {{.patience = 256}, "t1: a patience of 256: at most 255"}})
    EXPECT_THAT([&] { Mesh(shape, nullptr); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(why)));
  Nodes nodes({.rows = 2, .columns = 2});
  ASSERT_TRUE(nodes.send(1, 4, 0));
  EXPECT_THAT([&] { nodes.step(); },
              testing::ThrowsMessage<Exception>("node 1: a message to node 4, outside the mesh of 4"));
}

}  // namespace t1_mesh_test
