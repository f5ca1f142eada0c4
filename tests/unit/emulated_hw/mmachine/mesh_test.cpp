// The M-Machine's network under its clock (thesis, 3.3.3, 4.1, 4.4), with nodes that a test fills and empties by hand.
#include "emulated_hw/mmachine/mesh.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <tuple>

#include "support/cells.hpp"
#include "support/random.hpp"

namespace mmachine_mesh_test {

using namespace am::mmachine;
using am::kit::NodeNumber;
using enum MessageKind;
constexpr std::array all_kinds = {p0_ordered, p1_ordered, p0_unordered, p1_unordered};
constexpr std::array both_priorities = {Priority::p0, Priority::p1};

/// Its units are filled and emptied by hand.
class MeshNode final : public NetworkUnits {
 public:
  const Flit* outgoing(Priority priority) override {
    const std::deque<Flit>& queue = out[index(priority)];
    return queue.empty() ? nullptr : &queue.front();
  }
  void gone(Priority priority) override { out[index(priority)].pop_front(); }
  bool has_outgoing() const override { return !out[0].empty() || !out[1].empty(); }
  bool has_room(Priority priority) override { return takes[index(priority)]; }
  void deliver(Priority priority, const Flit& flit) override { came(priority, flit); }

  void send(const Message& message) {
    for (unsigned at = 0; at < message.flits(); ++at)
      out[index(message.header.priority)].push_back(message.flit(at));
    bell.ring();
  }

  std::array<std::deque<Flit>, 2> out;
  std::array<bool, 2> takes{true, true};
  std::function<void(Priority, const Flit&)> came;
  am::kit::NodeBell bell;
};

class MeshNodes {
 public:
  struct Came {
    Cycle header_at;
    Cycle tail_at;
    NodeNumber node;
    Header header;
    std::vector<Word> words;  // handler, address, body
    bool whole;               // no flit with wrong parity
  };

  explicit MeshNodes(const Mesh::Shape& shape) {
    std::vector<NetworkUnits*> units;
    for (NodeNumber node = 0; node < shape.width * shape.height; ++node)
      units.push_back(nodes_.emplace_back(std::make_unique<MeshNode>()).get());
    coming_.resize(nodes_.size());
    mesh_.emplace(shape, units);
    for (NodeNumber node = 0; node < nodes_.size(); ++node) {
      nodes_[node]->bell = mesh_->bell(node);
      nodes_[node]->came = [this, node](Priority priority, const Flit& flit) { take(node, priority, flit); };
    }
  }

  struct What {
    MessageKind kind = p0_ordered;
    unsigned words = 0;
    std::uint64_t number = 0;
  };
  /// A message whose address is its number.
  void send(NodeNumber from, NodeNumber to, const What& what) {
    Message message;
    message.header = {.destination = mesh_->place_of(to),
                      .sender = mesh_->place_of(from),
                      .argcount = static_cast<std::uint8_t>(what.words),
                      .ordered = is_ordered(what.kind),
                      .priority = priority_of(what.kind)};
    message.address = {what.number, true};
    for (unsigned i = 0; i < what.words; ++i) message.body[i] = {what.number * 100 + i, i % 2 == 0};
    nodes_[from]->send(message);
  }
  void step() { mesh_->step(); }
  /// Until nothing is under way: false, if something stays for longer than that.
  bool run_dry(Cycle patience = 1000) {
    const auto is_sending = [](const auto& node) { return node->has_outgoing(); };
    while (std::ranges::any_of(nodes_, is_sending) || mesh_->under_way() != 0) {
      step();
      if (mesh_->still_for() > patience) return false;
    }
    return true;
  }

  [[nodiscard]] Mesh& mesh() { return *mesh_; }
  [[nodiscard]] MeshNode& node(NodeNumber node) { return *nodes_[node]; }
  std::function<void(const Came&)> on_message = [this](const Came& one) { came.push_back(one); };
  std::vector<Came> came;

 private:
  void take(NodeNumber node, Priority priority, const Flit& flit) {
    std::optional<Came>& now = coming_[node][index(priority)];
    if (!now) {
      now = Came{mesh_->now(), 0, node, Header::of(flit.word.bits), {}, flit.is_whole()};
      return;
    }
    now->words.push_back(flit.word);
    now->whole = now->whole && flit.is_whole();
    if (!flit.tail) return;
    now->tail_at = mesh_->now();
    on_message(*std::exchange(now, std::nullopt));
  }

  std::vector<std::unique_ptr<MeshNode>> nodes_;
  std::vector<std::array<std::optional<Came>, 2>> coming_;
  std::optional<Mesh> mesh_;
};

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

  void step() {
    for (NodeNumber node = 0; node < nodes_.mesh().nodes(); ++node) {
      for (const Priority priority : both_priorities) {
        while (nodes_.node(node).out[index(priority)].size() < words_before_body + most_bounced_body) {
          const MessageKind kind = kind_of(priority, random_.one_in(2));
          nodes_.send(node, to(random_), {kind, words(random_), ++sent});
        }
      }
    }
    nodes_.step();
  }
  std::uint64_t sent = 0;
  std::function<unsigned(test::Random&)> words = [](test::Random& random) {
    return static_cast<unsigned>(random.below(11));
  };
  std::function<NodeNumber(test::Random&)> to = [this](test::Random& random) {
    return static_cast<NodeNumber>(random.below(nodes_.mesh().nodes()));
  };

 private:
  MeshNodes& nodes_;
  test::Random random_;
};

class UnderLoad : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Channels, UnderLoad, testing::Values(2u, 4u));

void expect_each_once_whole_and_in_order(MeshNodes& nodes, bool& any_overtook) {
  std::map<std::tuple<std::uint64_t, NodeNumber, MessageKind>, std::uint64_t> last;
  std::vector<bool> seen(nodes.came.size() + 1);
  for (const MeshNodes::Came& came : nodes.came) {
    const std::uint64_t number = came.words[1].bits;
    ASSERT_TRUE(came.whole);
    ASSERT_EQ(nodes.mesh().number_of(came.header.destination), came.node);
    const NodePlace from = came.header.sender, to = came.header.destination;
    ASSERT_EQ(came.header.turns, (Turns{to.x < from.x, to.y < from.y, came.header.priority})) << "4.4.1";
    ASSERT_EQ(came.words.size(), 2u + came.header.argcount);
    for (unsigned i = 0; i < came.header.argcount; ++i)
      ASSERT_EQ(came.words[2 + i], (Word{number * 100 + i, i % 2 == 0}));
    ASSERT_FALSE(seen.at(number));
    seen[number] = true;
    std::uint64_t& before = last[{nid_of(came.header.sender), came.node, came.header.kind()}];
    if (came.header.ordered) {
      ASSERT_LT(before, number);
    } else if (number < before) {
      any_overtook = true;
    }
    before = std::max(before, number);
  }
}

/// Nodes that take nothing, of either priority, for random times: all of it comes when they do again. "Unordered" is real: some pass
/// others on their way.
TEST_P(UnderLoad, AllComesOnceAndWholeAndWhatIsOrderedInOrderHoweverNodesRefuse) {
  test::Random random(test::seed());
  bool any_overtook = false;
  for (const auto& [width, height] : {std::pair{1u, 1u}, {8u, 1u}, {1u, 8u}, {3u, 3u}, {4u, 3u}, {5u, 4u}}) {
    MeshNodes nodes({.width = width, .height = height, .channels = GetParam()});
    Load load(nodes, random());
    std::vector<std::array<Cycle, 2>> refuses_until(nodes.mesh().nodes());
    for (int i = 0; i < 5000; ++i) {
      for (NodeNumber node = 0; node < nodes.mesh().nodes(); ++node) {
        for (const std::size_t priority : {0, 1}) {
          Cycle& until = refuses_until[node][priority];
          if (random.one_in(100)) until = nodes.mesh().now() + random.below(400);
          nodes.node(node).takes[priority] = until <= nodes.mesh().now();
        }
      }
      load.step();
    }
    for (NodeNumber node = 0; node < nodes.mesh().nodes(); ++node) nodes.node(node).takes = {true, true};
    ASSERT_TRUE(nodes.run_dry()) << am::kit::who_waits(nodes.mesh());
    ASSERT_EQ(nodes.came.size(), load.sent);
    ASSERT_NO_FATAL_FAILURE(expect_each_once_whole_and_in_order(nodes, any_overtook));
    EXPECT_EQ(nodes.mesh().lost(), 0u);
  }
  EXPECT_TRUE(any_overtook);
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
  EXPECT_NE(am::kit::who_waits(nodes.mesh()), "");
  for (NodeNumber node = 0; node < 16; ++node) nodes.node(node).takes = {true, true};
  EXPECT_TRUE(nodes.run_dry());
  EXPECT_EQ(nodes.came.size(), 2u * 16 * 40);
  EXPECT_EQ(am::kit::who_waits(nodes.mesh()), "");
}

/// "No one type of messages can be indefinitely starved out, even under full-capacity traffic conditions" (3.3.3): a million cycles in
/// which every node sends all it can, of all kinds, in most of them to one node.
TEST(Mesh, NoKindIsStarvedUnderFullLoad) {
  constexpr Cycle all = test::build == test::Build::plain ? 1'000'000 : 100'000;
  MeshNodes nodes({.width = 3, .height = 2});
  std::array<Cycle, 4> last{}, longest{};
  std::array<std::uint64_t, 4> count{};
  nodes.on_message = [&](const MeshNodes::Came& came) {
    const auto kind = static_cast<std::size_t>(came.header.kind());
    longest[kind] = std::max(longest[kind], nodes.mesh().now() - last[kind]);
    last[kind] = nodes.mesh().now();
    ++count[kind];
  };
  Load load(nodes, test::seed());
  load.words = [](test::Random&) { return 3u; };
  load.to = [](test::Random& random) {
    return static_cast<NodeNumber>(random.one_in(4) ? random.below(6) : 5);
  };
  while (nodes.mesh().now() < all) load.step();
  for (std::size_t kind = 0; kind < message_kinds; ++kind) {
    EXPECT_GT(count[kind], all / 100) << "kind " << kind;
    EXPECT_LT(std::max(longest[kind], all - last[kind]), 2000u) << "kind " << kind;
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
