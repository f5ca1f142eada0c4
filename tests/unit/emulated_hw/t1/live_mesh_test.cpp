// The CNS-1's network live (T1 report, 3.3, 3.5, 3.9): many carriers at once. Each message is counted once, in order, and nothing lies
// forgotten.
#include "emulated_hw/t1/live_mesh.hpp"

#include <thread>

#include "live_network.hpp"
#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace t1_live_mesh_test {

using namespace am::t1;
using test::LiveNetwork;

constexpr auto low = Priority::low;
constexpr auto high = Priority::high;

/// Flits that have gone over any link so far, and out of any router to its node.
std::uint64_t flits_of(LiveNetwork& net) {
  std::uint64_t flits = 0;
  for (NodeNumber node = 0; node < net.nodes(); ++node) {
    flits += net.mesh().router(node).to_node;
    for (const am::kit::LiveChannel& input : net.mesh().router(node).inputs) flits += input.flits;
  }
  return flits;
}

TEST(LiveMesh, CarriesEachMessageToItsNode) {
  for (const Shape& shape :
       {Shape{.rows = 1, .columns = 1}, Shape{.rows = 1, .columns = 2}, Shape{.rows = 3, .columns = 5},
        Shape{.rows = 4, .columns = 4, .wraps = false}, Shape{.rows = 7, .columns = 1}}) {
    LiveNetwork net(shape);
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        for (const Priority priority : {low, high}) {
          for (std::uint64_t n = 1; n <= 9; ++n) {
            ASSERT_TRUE(net.send(priority, {.destination = to, .source = from, .flits = 2}));
            ASSERT_EQ(net.count(to, from, priority), n);
            ASSERT_EQ(net.shown(to, from, priority), n);
          }
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    std::uint64_t channels = 0;
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to)
        channels += 2 + am::kit::distance(net.mesh().grid(), from, to);
    }
    EXPECT_EQ(flits_of(net), channels * 2 * 9 * 2)
        << "each flit in each channel of its way, and out at its end";
  }
}

// Handlers in hardware (3.9): what is stored is counted where it goes; what is fetched where it was asked for, after it has been there.
void expect_store_and_fetch(LiveNetwork& net, NodeNumber from, NodeNumber to) {
  const std::uint64_t before = flits_of(net);
  Carried fetch{
      .destination = to, .source = from, .flits = 2, .counts = false, .who = For::fetch, .answer_flits = 10};
  ASSERT_TRUE(net.send(low, {.destination = to, .source = from, .flits = 9, .who = For::store}));
  ASSERT_TRUE(net.send(low, fetch));
  EXPECT_EQ(net.count(from, to, Counted::answered), 0u) << "only the last one counts";
  fetch.counts = true;
  fetch.answer_flits = 5;
  ASSERT_TRUE(net.send(low, fetch));
  EXPECT_EQ(net.count(to, from, Counted::stored), 1u);
  EXPECT_EQ(net.count(from, to, Counted::answered), 1u);
  EXPECT_EQ(net.shown(from, to, Counted::answered), 1u);
  for (const Priority priority : {low, high}) {
    EXPECT_EQ(net.count(to, from, priority), 0u) << "no event for a processor";
    EXPECT_EQ(net.count(from, to, priority), 0u);
  }
  const unsigned channels = 1 + am::kit::distance(net.mesh().grid(), from, to);
  EXPECT_EQ(flits_of(net) - before, 9 * (channels + 1) + 2 * 2 * channels + (10 + 5) * (channels + 1));
}

TEST(LiveMesh, StoresAndAnswersFetchesWithoutAnyProcessor) {
  for (const Shape& shape :
       {Shape{.rows = 1, .columns = 2}, Shape{.rows = 3, .columns = 5}, Shape{.rows = 2, .columns = 4}}) {
    LiveNetwork net(shape);
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        if (to != from) expect_store_and_fetch(net, from, to);
      }
    }
    EXPECT_TRUE(net.is_empty());
  }
}

TEST(LiveMesh, HasRoomForAsManyAsAChannelHolds) {
  LiveNetwork net({.rows = 1, .columns = 2});
  const Carried message{.destination = 1, .source = 0};
  for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) ASSERT_TRUE(net.mesh().inject(0, low, message));
  EXPECT_FALSE(net.mesh().inject(0, low, message));
  EXPECT_FALSE(net.mesh().accepts(0, low));
  EXPECT_TRUE(net.mesh().accepts(0, high));
  EXPECT_FALSE(net.mesh().ask_for_room(0, low));
  net.mesh().carry(0, low);
  EXPECT_EQ(net.room_told(0), 1u);
  EXPECT_EQ(net.count(1, 0, low), am::kit::LiveChannel::places);
  EXPECT_TRUE(net.is_empty());
  EXPECT_TRUE(net.mesh().ask_for_room(0, low));
}

using Counts = test::LiveCounts<Counted>;

TEST(LiveMesh, KeepsAllUnderManyCarriers) {
  test::Random seeds(test::seed());
  for (const Shape& shape :
       {Shape{.rows = 1, .columns = 2}, Shape{.rows = 2, .columns = 3}, Shape{.rows = 4, .columns = 4}}) {
    LiveNetwork net(shape);
    const auto send = [&](test::Random& random, NodeNumber from, Counts& sent) {
      const auto to = static_cast<NodeNumber>(random.below(net.nodes()));
      const auto who = static_cast<For>(random.below(3));
      const Priority priority = who != For::processor || random.one_in(2) ? low : high;
      if (net.mesh().inject(from, priority,
                            {.destination = to, .source = from, .who = who, .answer_flits = 3})) {
        if (who == For::fetch)
          ++sent[{from, to, Counted::answered}];
        else
          ++sent[{to, from, who == For::store ? Counted::stored : counted(priority)}];
      }
      if (!random.one_in(4)) net.mesh().carry(from, priority);
    };
    test::keeps_all_under_many_carriers<Counts>(net, seeds, send);
  }
}

// Those who look after the routers at once count in one place which is next: it is one of them, whoever comes in between.
TEST(LiveMesh, NobodyLooksBehindTheLastRouter) {
  const Shape shape{.rows = 1, .columns = 2};
  LiveNetwork counts(shape);
  std::vector<test::Line> memory(LiveMesh::bytes(2 + 1) / sizeof(test::Line));
  LiveMesh mesh(shape, memory.front().bytes, counts);
  {
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < 4; ++t) {
      running.emplace_back([&] {
        for (int i = 0; i < 100'000; ++i) mesh.look_after();
      });
    }
  }
  EXPECT_GT(mesh.router(0).looks, 0u);
  EXPECT_GT(mesh.router(1).looks, 0u);
  EXPECT_EQ(mesh.router(2).looks, 0u) << "memory of somebody else";
}

}  // namespace t1_live_mesh_test
