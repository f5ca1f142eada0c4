// The iWarp's open pool live (Borkar et al. 1990, 6.2): many carriers at once, and carriers that are stopped, or killed, before any of their
// accesses. Each message is counted once at its node, and nothing lies forgotten. And the channels of its reservation pool.
#include "emulated_hw/iwarp/live_torus.hpp"

#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace iwarp_live_torus_test {

using namespace am::iwarp;
namespace kit = am::kit;

using kit::NodeNumber;

class LiveNetwork final : public ::test::LiveNetworkOf<LiveTorus, Counted, kinds_of_counted> {
 public:
  explicit LiveNetwork(const kit::Extents& extents)
      : LiveNetworkOf(extents.rows * extents.columns, extents) {}

  [[nodiscard]] bool send(const LiveMessage& message) {
    if (!mesh_.inject(message.source, message)) return false;
    mesh_.carry(message.source, message);
    return true;
  }
};

TEST(IwarpLiveTorus, CarriesEachMessageToItsNode) {
  for (const kit::Extents& extents : {kit::Extents{1, 1}, {1, 2}, {2, 2}, {5, 1}, {4, 3}}) {
    LiveNetwork net(extents);
    const kit::Grid grid = LiveTorus::grid_of(extents);
    std::uint64_t links = 0;
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        for (const Counted priority : {Counted::low, Counted::high}) {
          for (std::uint64_t n = 1; n <= 9; ++n) {
            ASSERT_TRUE(net.send({to, from, priority}));
            ASSERT_EQ(net.count(to, from, priority), n);
            ASSERT_EQ(net.shown(to, from, priority), n);
            links += distance(grid, from, to);
          }
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    std::uint64_t passed = 0;
    for (NodeNumber node = 0; node < net.nodes(); ++node) {
      for (unsigned input = live_vcs; input < live_channels; ++input)
        passed += net.mesh().router(node).inputs[input].flits;
    }
    EXPECT_EQ(passed, links) << "each by the shorter way round";
  }
}

TEST(IwarpLiveTorus, GoesOnWhateverAnotherScribblesThere) {
  ::test::goes_on_whatever_another_scribbles(
      2'000, 12,
      [](auto& random) {
        return LiveNetwork({1 + static_cast<unsigned>(random.below(2)), 2});
      },
      [](LiveNetwork& net, auto& random, NodeNumber from) {
        const LiveMessage message{static_cast<NodeNumber>(random.below(net.nodes())), from};
        if (net.mesh().inject(from, message) && random.one_in(2)) net.mesh().carry(from, {});
      });
}

using Counts = ::test::LiveCounts<Counted>;

TEST(IwarpLiveTorus, KeepsAllUnderManyCarriers) {
  ::test::Random seeds(::test::seed());
  for (const kit::Extents& extents : {kit::Extents{1, 4}, {3, 3}}) {
    LiveNetwork net(extents);
    const auto send = [&](::test::Random& random, NodeNumber from, Counts& sent) {
      const LiveMessage message{static_cast<NodeNumber>(random.below(net.nodes())), from,
                                random.one_in(3) ? Counted::high : Counted::low};
      if (net.mesh().inject(from, message)) ++sent[{message.destination, from, message.priority}];
      if (!random.one_in(4)) net.mesh().carry(from, message);
    };
    ::test::keeps_all_under_many_carriers<Counts>(net, seeds, send);
  }
}

constexpr kit::Requests every_input = kit::request(live_channels) - 1;

/// Messages round a ring, some of them over its edge; more between two nodes than a channel holds.
struct Scene {
  LiveNetwork net{{1, 4}};
  Counts counts;
  static auto carrier(LiveNetwork& net, NodeNumber first) {
    return ::test::carrier_of(net, first, every_input);
  }
  Scene() {
    for (const LiveMessage& message :
         {LiveMessage{1, 0}, LiveMessage{2, 0, Counted::high}, LiveMessage{1, 3}, LiveMessage{0, 3},
          LiveMessage{3, 1}, LiveMessage{2, 0}, LiveMessage{0, 0}}) {
      EXPECT_TRUE(net.mesh().inject(message.source, message));
      ++counts[{message.destination, message.source, message.priority}];
    }
  }
  void all_has_come() {
    ::test::expect_that_it_goes_on(net, counts, [&](NodeNumber from) {
      const LiveMessage message{(from + 2) % 4, from};
      ++counts[{message.destination, from, message.priority}];
      return net.send(message);
    });
  }
};

TEST(IwarpLiveTorusStops, AnotherGoesOnWhereACarrierWasStoppedOrKilled) {
  ::test::goes_on_without_a_carrier<Scene>({0, 3});
}

TEST(IwarpLiveTorusStops, AnyOrderOfThreeCarriersIsAsGood) {
  ::test::any_order_is_as_good<Scene>({0, 1, 3}, 100);
}

/// All or none; what a node that is gone has had is free. 3.2.2: who has all channels of a link starves other pathways, not messages.
TEST(IwarpLiveTorus, ReservesAChannelOfEachLinkOrNone) {
  LiveNetwork net({1, 5});
  LiveTorus& torus = net.mesh();
  const auto nobody = [](NodeNumber) { return false; };
  for (unsigned i = 0; i < live_pathways; ++i) ASSERT_TRUE(torus.reserve(1, 2, nobody));
  EXPECT_FALSE(torus.reserve(0, 2, nobody)) << "none is left from 1 to 2";
  EXPECT_TRUE(net.send({2, 0})) << "by the open pool";
  for (unsigned i = 0; i < live_pathways; ++i) ASSERT_TRUE(torus.reserve(0, 1, nobody)) << "none was kept";
  EXPECT_FALSE(torus.reserve(0, 1, nobody));
  torus.give_back(1, 2);
  EXPECT_FALSE(torus.reserve(0, 2, nobody));
  torus.give_back(0, 1);
  EXPECT_TRUE(torus.reserve(0, 2, nobody));
  EXPECT_FALSE(torus.reserve(2, 4, [](NodeNumber) { return false; }) && torus.reserve(1, 3, nobody));
  EXPECT_TRUE(torus.reserve(2, 2, nobody)) << "to itself: no link";
  EXPECT_TRUE(torus.reserve(3, 2, nobody)) << "the other direction";
  for (unsigned i = 0; i < live_pathways - 1; ++i) {
    torus.give_back(0, 1);
    EXPECT_TRUE(torus.reserve(0, 2, [](NodeNumber node) { return node == 1; })) << "node 1 is gone";
  }
}

}  // namespace iwarp_live_torus_test
