// The M-Machine's network under its clock (thesis, 3.3.3, 4.1, 4.4), with nodes that a test fills and empties by hand.
#include "emulated_hw/mmachine/mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>

#include "support/random.hpp"
#include "unit/emulated_hw/mmachine/mesh_nodes.hpp"

namespace mmachine_mesh_test {

using namespace test;
using enum MessageKind;
constexpr std::array all_kinds = {p0_ordered, p1_ordered, p0_unordered, p1_unordered};

Cycle cycles_for(const Mesh& mesh, NodeNumber from, NodeNumber to) {
  const NodePlace a = mesh.place_of(from), b = mesh.place_of(to);
  const auto links = static_cast<Cycle>(std::abs(a.x - b.x) + std::abs(a.y - b.y));
  return links + 4;  // the turn buffers of x and y, the extraction buffer, the network input
}

TEST(Mesh, AHeaderPassesALinkACycleAndFlitsFollowEachCycle) {
  for (const auto& [width, height] : {std::pair{4u, 3u}, {1u, 5u}, {6u, 1u}, {1u, 1u}}) {
    for (NodeNumber from = 0; from < width * height; ++from) {
      for (NodeNumber to = 0; to < width * height; ++to) {
        for (const MessageKind kind : all_kinds) {
          MeshNodes nodes({.width = width, .height = height});
          nodes.send(from, to, {kind, 5, 7});
          ASSERT_TRUE(nodes.run_dry());
          ASSERT_EQ(nodes.came.size(), 1u);
          const auto& came = nodes.came[0];
          EXPECT_EQ(came.node, to);
          // In the first cycle it gets into the turn buffer.
          EXPECT_EQ(came.header_at + 1, cycles_for(nodes.mesh(), from, to));
          EXPECT_EQ(came.tail_at, came.header_at + 7);
          EXPECT_EQ(came.words[1], (Word{7, true}));
          EXPECT_EQ(came.words[6], (Word{704, true}));
          EXPECT_TRUE(came.whole);
        }
      }
    }
  }
}

TEST(Mesh, FromCornerToCornerOf1024Nodes) {
  MeshNodes nodes({.width = 32, .height = 32});
  nodes.send(0, 1023, {p0_unordered, 10, 1});
  nodes.send(1023, 0, {p1_ordered, 0, 2});
  ASSERT_TRUE(nodes.run_dry());
  ASSERT_EQ(nodes.came.size(), 2u);
  for (const auto& came : nodes.came) EXPECT_EQ(came.header_at + 1, 31u + 31u + 4u);
}

/// "The VC length is set at 6 flits to minimize bubbles in the pipeline, as the FVC information takes up to 5 cycles".
TEST(Mesh, AVirtualChannelIsAsLongAsItTakesToHearOfItsRoom) {
  const auto cycles = [](unsigned delay) {
    MeshNodes nodes({.width = 5, .vacancy_delay = delay});
    nodes.send(0, 4, {p0_ordered, most_bounced_body, 1});
    EXPECT_TRUE(nodes.run_dry());
    return nodes.came.at(0).tail_at - nodes.came.at(0).header_at;
  };
  EXPECT_EQ(cycles(4), 14u);
  EXPECT_EQ(cycles(5), 14u) << "15 flits, one a cycle";
  EXPECT_GT(cycles(6), 14u);
  EXPECT_GT(cycles(7), cycles(6));
}

TEST(Mesh, WhatCannotBeAMeshIsRefused) {
  EXPECT_THROW(MeshNodes({.width = 0}), std::invalid_argument);
  EXPECT_THROW(MeshNodes({.width = 33}), std::invalid_argument);
  EXPECT_THROW(MeshNodes({.width = 2, .channels = 3}), std::invalid_argument);
  EXPECT_THROW(MeshNodes({.width = 2, .vacancy_delay = 8}), std::invalid_argument);
  EXPECT_THROW(Mesh({.width = 2}, {}), std::invalid_argument);
}

/// Random messages of all kinds, as fast as the network takes them.
class Load {
 public:
  explicit Load(MeshNodes& nodes, std::uint64_t seed) : nodes_(nodes), random_(seed) {}

  void fill() {
    for (NodeNumber node = 0; node < nodes_.mesh().nodes(); ++node) {
      for (const Priority priority : {Priority::p0, Priority::p1}) {
        while (nodes_.node(node).queued(priority) < 2) {
          const bool ordered = random_.one_in(2);
          const MessageKind kind = priority == Priority::p0 ? (ordered ? p0_ordered : p0_unordered)
                                                            : (ordered ? p1_ordered : p1_unordered);
          const auto to = static_cast<NodeNumber>(random_.below(nodes_.mesh().nodes()));
          nodes_.send(node, to, {kind, static_cast<unsigned>(random_.below(11)), ++sent});
        }
      }
    }
  }
  std::uint64_t sent = 0;

 private:
  MeshNodes& nodes_;
  Random random_;
};

class UnderLoad : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Channels, UnderLoad, testing::Values(2u, 4u));

TEST_P(UnderLoad, AllComesOnceAndWholeAndWhatIsOrderedInOrder) {
  MeshNodes nodes({.width = 4, .height = 3, .channels = GetParam()});
  Load load(nodes, seed());
  for (int i = 0; i < 20'000; ++i) {
    load.fill();
    nodes.step();
  }
  ASSERT_TRUE(nodes.run_dry()) << nodes.mesh().who_waits();
  ASSERT_EQ(nodes.came.size(), load.sent);
  std::map<std::tuple<std::uint64_t, NodeNumber, Priority>, std::uint64_t> last;
  std::vector<bool> seen(load.sent + 1);
  for (const auto& came : nodes.came) {
    const std::uint64_t number = came.words[1].bits;
    ASSERT_TRUE(came.whole);
    ASSERT_EQ(nodes.mesh().number_of(came.header.destination), came.node);
    ASSERT_EQ(came.words.size(), 2u + came.header.argcount);
    for (unsigned i = 0; i < came.header.argcount; ++i)
      ASSERT_EQ(came.words[2 + i], (Word{number * 100 + i, i % 2 == 0}));
    ASSERT_FALSE(seen[number]);
    seen[number] = true;
    if (!came.header.ordered) continue;
    auto& before = last[{nid_of(came.header.sender), came.node, came.header.priority}];
    ASSERT_LT(before, number);
    before = number;
  }
  EXPECT_EQ(nodes.mesh().lost(), 0u);
}

/// Nodes that take nothing, of either priority, for random times: all of it comes when they do again.
TEST_P(UnderLoad, NothingStaysForEverHoweverNodesRefuse) {
  Random random(seed());
  for (const auto& [width, height] : {std::pair{1u, 1u}, {8u, 1u}, {1u, 8u}, {3u, 3u}, {5u, 4u}}) {
    MeshNodes nodes({.width = width, .height = height, .channels = GetParam()});
    Load load(nodes, random());
    std::vector<std::array<Cycle, 2>> refuses_until(nodes.mesh().nodes());
    for (int i = 0; i < 3000; ++i) {
      for (NodeNumber node = 0; node < nodes.mesh().nodes(); ++node) {
        for (unsigned priority = 0; priority < 2; ++priority) {
          Cycle& until = refuses_until[node][priority];
          if (random.one_in(100)) until = nodes.mesh().now() + random.below(400);
          nodes.node(node).takes[priority] = until <= nodes.mesh().now();
        }
      }
      load.fill();
      nodes.step();
    }
    for (NodeNumber node = 0; node < nodes.mesh().nodes(); ++node) nodes.node(node).takes = {true, true};
    ASSERT_TRUE(nodes.run_dry()) << nodes.mesh().who_waits();
    EXPECT_EQ(nodes.came.size(), load.sent);
  }
}

TEST_P(UnderLoad, NobodySeesInWhichOrderRoutersAreStepped) {
  const auto fingerprint = [&](bool shuffled) {
    MeshNodes nodes({.width = 4, .height = 4, .channels = GetParam()});
    Load load(nodes, 5);
    std::vector<NodeNumber> order(16);
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937_64 random(seed());
    for (int i = 0; i < 3000; ++i) {
      load.fill();
      std::ranges::shuffle(order, random);
      nodes.step(shuffled ? std::span<const NodeNumber>(order) : std::span<const NodeNumber>());
    }
    return std::pair(nodes.mesh().fingerprint(), nodes.came.size());
  };
  EXPECT_EQ(fingerprint(true), fingerprint(false));
}

/// "Unordered" is real: some of them pass others on their way.
TEST(Mesh, UnorderedMessagesOvertake) {
  MeshNodes nodes({.width = 4, .height = 4});
  Load load(nodes, seed());
  for (int i = 0; i < 5000; ++i) {
    load.fill();
    nodes.step();
  }
  std::map<std::pair<std::uint64_t, NodeNumber>, std::uint64_t> last;
  int overtaken = 0;
  for (const auto& came : nodes.came) {
    if (came.header.ordered) continue;
    auto& before = last[{nid_of(came.header.sender), came.node}];
    overtaken += before > came.words[1].bits;
    before = std::max(before, came.words[1].bits);
  }
  EXPECT_GT(overtaken, 0);
}

TEST_P(UnderLoad, RepliesPassRequestsThatNobodyTakes) {
  MeshNodes nodes({.width = 4, .height = 4, .channels = GetParam()});
  for (NodeNumber node = 0; node < 16; ++node) {
    nodes.node(node).takes = {false, true};
    for (int i = 0; i < 40; ++i) {
      nodes.send(node, (node * 7 + 3) % 16, {i % 2 == 0 ? p0_ordered : p0_unordered, 10, 1});
      nodes.send(node, (node * 5 + 3) % 16, {i % 2 == 0 ? p1_ordered : p1_unordered, 4, 2});
    }
  }
  EXPECT_FALSE(nodes.run_dry());
  EXPECT_EQ(std::ranges::count_if(nodes.came, [](const auto& came) { return came.words[1].bits == 2; }),
            16 * 40);
  EXPECT_NE(nodes.mesh().who_waits(), "");
  for (NodeNumber node = 0; node < 16; ++node) nodes.node(node).takes = {true, true};
  EXPECT_TRUE(nodes.run_dry());
  EXPECT_EQ(nodes.came.size(), 2u * 16 * 40);
  EXPECT_EQ(nodes.mesh().who_waits(), "");
}

/// "No one type of messages can be indefinitely starved out, even under full-capacity traffic conditions" (3.3.3): a million cycles in
/// which every node sends all it can, of all kinds, in most of them to one node.
TEST(Mesh, NoKindIsStarvedInAMillionCyclesOfFullLoad) {
  constexpr Cycle all = 1'000'000;
  MeshNodes nodes({.width = 3, .height = 2});
  std::array<Cycle, 4> last{}, longest{};
  std::array<std::uint64_t, 4> count{};
  Random random(seed());
  nodes.on_message = [&](const MeshNodes::Came& came) {
    const auto kind = static_cast<std::size_t>(came.header.kind());
    longest[kind] = std::max(longest[kind], nodes.mesh().now() - last[kind]);
    last[kind] = nodes.mesh().now();
    ++count[kind];
  };
  while (nodes.mesh().now() < all) {
    for (NodeNumber node = 0; node < 6; ++node) {
      for (const Priority priority : {Priority::p0, Priority::p1}) {
        if (nodes.node(node).queued(priority) >= 2) continue;
        const MessageKind kind = priority == Priority::p0 ? (random.one_in(2) ? p0_ordered : p0_unordered)
                                                          : (random.one_in(2) ? p1_ordered : p1_unordered);
        nodes.send(node, static_cast<NodeNumber>(random.one_in(4) ? random.below(6) : 5), {kind, 3, 1});
      }
    }
    nodes.step();
  }
  for (const MessageKind kind : all_kinds) {
    const auto k = static_cast<std::size_t>(kind);
    EXPECT_GT(count[k], all / 100) << "kind " << k;
    EXPECT_LT(std::max(longest[k], all - last[k]), 2000u) << "kind " << k;
  }
}

/// Boards that are stacked: the chips of the upper one are the other way round along x, and their routers are told (4.4.1).
TEST(Mesh, FlipdirPutsMirroredChipsRight) {
  for (const bool flipped : {true, false}) {
    MeshNodes nodes({.width = 4, .height = 2});
    for (const NodeNumber node : {1u, 4u, 5u, 6u}) {
      for (unsigned dimension = 0; dimension < 2; ++dimension) {
        nodes.mesh().mirror(node, dimension);
        if (flipped) nodes.mesh().flip(node, dimension);
      }
    }
    for (NodeNumber from = 0; from < 8; ++from) {
      for (NodeNumber to = 0; to < 8; ++to) {
        for (const MessageKind kind : all_kinds) nodes.send(from, to, {kind, 8, from});
      }
    }
    const bool ended = nodes.run_dry();
    if (flipped) {
      EXPECT_TRUE(ended);
      EXPECT_EQ(nodes.came.size(), 4u * 64);
      for (const auto& came : nodes.came)
        EXPECT_EQ(nodes.mesh().number_of(came.header.destination), came.node);
      EXPECT_EQ(nodes.mesh().lost(), 0u);
    } else {
      EXPECT_GT(nodes.mesh().lost(), 0u) << "the wrong way, over the edge";
    }
  }
}

TEST(Mesh, AFaultOfAWireShowsWhereTheFlitEnds) {
  MeshNodes nodes({.width = 3});
  int flits = 0;
  nodes.mesh().disturb([&](NodeNumber at, Flit& flit) {
    if (at == 1 && ++flits == 4) flit.word.bits ^= 1u << 20;  // the first word of the body
  });
  nodes.send(0, 2, {p0_ordered, 2, 9});
  nodes.send(0, 2, {p0_ordered, 2, 10});
  ASSERT_TRUE(nodes.run_dry());
  ASSERT_EQ(nodes.came.size(), 2u);
  EXPECT_FALSE(nodes.came[0].whole);
  EXPECT_TRUE(nodes.came[1].whole);
}

}  // namespace mmachine_mesh_test
