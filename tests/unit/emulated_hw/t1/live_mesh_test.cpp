// The CNS-1's network live (T1 report, 3.3, 3.5, 3.9): many carriers at once; and carriers that are stopped, or killed, before any of
// their accesses to what they share, while others go on. Each message is counted once, in order, and nothing lies forgotten.
#include "emulated_hw/t1/live_mesh.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include "support/random.hpp"
#include "support/steps.hpp"

namespace {

using namespace am::t1;
using test::Steps;
using test::Stops;

/// Zeroed memory for a network, and the nodes' counts.
class Network final : public LiveMesh::Nodes {
 public:
  explicit Network(const Shape& shape)
      : nodes_(shape.rows * shape.columns),
        memory_(LiveMesh::bytes(nodes_) / sizeof(Line)),
        arrivals_(std::size_t{kinds_of_counted} * nodes_ * nodes_),
        shown_(std::size_t{kinds_of_counted} * nodes_ * nodes_),
        room_(nodes_),
        mesh_(shape, memory_.front().bytes, *this) {}

  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(NodeNumber at, NodeNumber from,
                                                     Counted what) noexcept override {
    return arrivals_[place(at, from, what)];
  }
  void arrived(NodeNumber /*at*/, NodeNumber /*from*/, Counted /*what*/) noexcept override { ++told_; }
  void show(NodeNumber at, NodeNumber from, Counted what) noexcept override {
    shown_[place(at, from, what)] = count(at, from, what);
  }
  [[nodiscard]] std::uint64_t shown(NodeNumber at, NodeNumber from, Counted what) const {
    return shown_[place(at, from, what)];
  }
  [[nodiscard]] std::uint64_t shown(NodeNumber at, NodeNumber from, Priority priority) const {
    return shown(at, from, counted(priority));
  }
  void has_room(NodeNumber at) noexcept override { ++room_[at]; }

  [[nodiscard]] std::uint64_t count(NodeNumber at, NodeNumber from, Counted what) {
    return am::kit::Entry{arrivals(at, from, what).load()}.count();
  }
  [[nodiscard]] std::uint64_t count(NodeNumber at, NodeNumber from, Priority priority) {
    return count(at, from, counted(priority));
  }
  [[nodiscard]] LiveMesh& mesh() noexcept { return mesh_; }
  /// Nothing has been let into any channel that has not left it.
  [[nodiscard]] bool is_empty() const {
    for (NodeNumber node = 0; node < nodes_; ++node) {
      for (const am::kit::LiveChannel& input : mesh_.router(node).inputs) {
        if (am::kit::Entry{input.entries.load()}.beyond(input.left.load()) != 0) return false;
      }
    }
    return true;
  }
  [[nodiscard]] NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] unsigned room_told(NodeNumber at) const noexcept { return room_[at]; }
  [[nodiscard]] unsigned told() const noexcept { return told_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  [[nodiscard]] std::size_t place(NodeNumber at, NodeNumber from, Counted what) const noexcept {
    return (std::size_t{at} * nodes_ + from) * kinds_of_counted + static_cast<std::size_t>(what);
  }
  const NodeNumber nodes_;
  std::vector<Line> memory_;
  std::vector<std::atomic<std::uint64_t>> arrivals_;
  std::vector<std::atomic<std::uint64_t>> shown_;
  std::vector<std::atomic<unsigned>> room_;
  std::atomic<unsigned> told_ = 0;
  LiveMesh mesh_;
};

constexpr auto low = Priority::low;
constexpr auto high = Priority::high;

TEST(LiveMesh, CarriesEachMessageToItsNode) {
  for (const Shape& shape :
       {Shape{.rows = 1, .columns = 1}, Shape{.rows = 1, .columns = 2}, Shape{.rows = 3, .columns = 5},
        Shape{.rows = 4, .columns = 4, .wraps = false}, Shape{.rows = 7, .columns = 1}}) {
    Network net(shape);
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        for (const Priority priority : {low, high}) {
          for (std::uint64_t n = 1; n <= 9; ++n) {
            ASSERT_TRUE(net.mesh().inject(from, priority, {.destination = to, .source = from, .flits = 2}));
            net.mesh().carry(from, priority);
            ASSERT_EQ(net.count(to, from, priority), n);
            ASSERT_EQ(net.shown(to, from, priority), n);
          }
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    std::uint64_t flits = 0, links = 0;
    const am::kit::Grid& grid = net.mesh().grid();
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      const LiveRouter& router = net.mesh().router(from);
      flits += router.to_node;
      for (const am::kit::LiveChannel& input : std::span(router.inputs).subspan(vcs)) flits += input.flits;
      for (NodeNumber to = 0; to < net.nodes(); ++to) links += 1 + am::kit::distance(grid, from, to);
    }
    EXPECT_EQ(flits, links * 2 * 9 * 2) << "each flit on each link of its way, and out at its end";
  }
}

TEST(LiveMesh, CountsOnlyWhatCounts) {
  Network net({.rows = 1, .columns = 3});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 2, .source = 0, .flits = 10, .counts = false}));
    net.mesh().carry(0, low);
    ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 2, .source = 0, .flits = 3}));
    net.mesh().carry(0, low);
  }
  EXPECT_EQ(net.count(2, 0, low), 10u);
  EXPECT_EQ(net.told(), 10u);
}

// A copy at every node on the way, the source excluded (3.9, A.8); all the way round to the sender.
TEST(LiveMesh, LeavesACopyAtEveryNodeOnTheWay) {
  Network net({.rows = 2, .columns = 5});
  ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 2, .source = 0, .multicast = true}));
  net.mesh().carry(0, low);
  for (NodeNumber node = 0; node < 10; ++node)
    EXPECT_EQ(net.count(node, 0, low), node == 1 || node == 2 ? 1u : 0u) << node;
  ASSERT_TRUE(net.mesh().inject(7, high, {.destination = 7, .source = 7, .multicast = true}));
  net.mesh().carry(7, high);
  for (NodeNumber node = 0; node < 10; ++node)
    EXPECT_EQ(net.count(node, 7, high), node >= 5 ? 1u : 0u) << node;
}

// Handlers in hardware (3.9): what is stored is counted where it goes; what is fetched where it was asked for, after it has been there.
TEST(LiveMesh, StoresAndAnswersFetchesWithoutAnyProcessor) {
  for (const Shape& shape :
       {Shape{.rows = 1, .columns = 2}, Shape{.rows = 3, .columns = 5}, Shape{.rows = 2, .columns = 4}}) {
    Network net(shape);
    const am::kit::Grid& grid = net.mesh().grid();
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        if (to == from) continue;
        std::uint64_t before = 0, after = 0;
        const auto flits = [&](std::uint64_t& sum) {
          for (NodeNumber node = 0; node < net.nodes(); ++node) {
            const LiveRouter& router = net.mesh().router(node);
            sum += router.to_node;
            for (const am::kit::LiveChannel& input : router.inputs) sum += input.flits;
          }
        };
        flits(before);
        const auto inject = [&](const Carried& message) {
          ASSERT_TRUE(net.mesh().inject(from, low, message));
          net.mesh().carry(from, low);
        };
        inject({.destination = to, .source = from, .flits = 9, .who = For::store});
        inject({.destination = to,
                .source = from,
                .flits = 2,
                .counts = false,
                .who = For::fetch,
                .answer_flits = 10});
        EXPECT_EQ(net.count(from, to, Counted::answered), 0u) << "only the last one counts";
        inject({.destination = to, .source = from, .flits = 2, .who = For::fetch, .answer_flits = 5});
        EXPECT_EQ(net.count(to, from, Counted::stored), 1u);
        EXPECT_EQ(net.count(from, to, Counted::answered), 1u);
        EXPECT_EQ(net.shown(from, to, Counted::answered), 1u);
        for (const Priority priority : {low, high}) {
          EXPECT_EQ(net.count(to, from, priority), 0u) << "no event for a processor";
          EXPECT_EQ(net.count(from, to, priority), 0u);
        }
        flits(after);
        const unsigned channels_on_the_way = 1 + am::kit::distance(grid, from, to);
        EXPECT_EQ(after - before, 9 * (channels_on_the_way + 1) + 2 * 2 * channels_on_the_way +
                                      (10 + 5) * (channels_on_the_way + 1));
      }
    }
    EXPECT_TRUE(net.is_empty());
  }
}

TEST(LiveMesh, HasRoomForAsManyAsAChannelHolds) {
  Network net({.rows = 1, .columns = 2});
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

TEST(LiveMesh, ForgetsRoutersThatAreQuiet) {
  Network net({.rows = 1, .columns = 4});
  ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 2, .source = 0}));
  net.mesh().carry(0, low);
  EXPECT_TRUE(net.mesh().is_watched(0));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(net.mesh().look_after()) << i;
  for (NodeNumber node = 0; node < 4; ++node) EXPECT_FALSE(net.mesh().is_watched(node));
  ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 2, .source = 0}));
  net.mesh().carry(0, low);
  EXPECT_EQ(net.count(2, 0, low), 2u);
}

// Random loads by several threads, each of several nodes: all is counted, and there is nothing left when all have stopped.
TEST(LiveMesh, KeepsAllUnderManyCarriers) {
  test::Random seeds(test::seed());
  for (const Shape& shape :
       {Shape{.rows = 1, .columns = 2}, Shape{.rows = 2, .columns = 3}, Shape{.rows = 4, .columns = 4}}) {
    Network net(shape);
    constexpr unsigned threads = 4;
    std::array<std::map<std::tuple<NodeNumber, NodeNumber, Counted>, std::uint64_t>, threads> sent;
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) {
      running.emplace_back([&net, &mine = sent[t], t, random = test::Random(seeds())]() mutable {
        for (int i = 0; i < 20'000; ++i) {
          const auto from =
              static_cast<NodeNumber>(random.below(net.nodes() + threads - 1 - t) / threads * threads + t);
          if (from >= net.nodes()) continue;
          const auto to = static_cast<NodeNumber>(random.below(net.nodes()));
          const auto who = static_cast<For>(random.below(3));
          const Priority priority = who != For::processor || random.one_in(2) ? low : high;
          const Carried message{.destination = to, .source = from, .who = who, .answer_flits = 3};
          if (net.mesh().inject(from, priority, message)) {
            switch (who) {
              case For::store:
                ++mine[{to, from, Counted::stored}];
                break;
              case For::fetch:
                ++mine[{from, to, Counted::answered}];
                break;
              default:
                ++mine[{to, from, counted(priority)}];
            }
          }
          if (!random.one_in(4)) net.mesh().carry(from, priority);
          if (random.one_in(64)) net.mesh().look_after();
        }
      });
    }
    running.clear();
    for (int i = 0; i < 20; ++i) net.mesh().look_after();
    ASSERT_TRUE(net.is_empty());
    std::uint64_t all = 0;
    for (const auto& mine : sent) {
      for (const auto& [link, count] : mine) {
        const auto& [to, from, what] = link;
        ASSERT_EQ(net.count(to, from, what), count) << from << " to " << to;
        all += count;
      }
    }
    EXPECT_GT(all, 1'000u);
  }
}

// Nobody is killed: then whoever has injected something and carried may go, and all comes by itself.
TEST(LiveMesh, LeavesNothingBehindWithoutAnybodyLookingAfterIt) {
  Network net({.rows = 2, .columns = 4});
  for (int round = 0; round < 300; ++round) {
    std::atomic<unsigned> accepted = 0;
    {
      std::vector<std::jthread> running;
      for (NodeNumber from = 0; from < 4; ++from) {
        running.emplace_back([&, from] {
          for (NodeNumber i = 0; i < 40; ++i) {
            if (net.mesh().inject(from, low, {.destination = (from * 3 + i) % 8, .source = from})) ++accepted;
            net.mesh().carry(from, low);
          }
        });
      }
    }
    ASSERT_TRUE(net.is_empty()) << "round " << round;
  }
}

constexpr am::kit::Requests injected = am::kit::request(channel(0, low, 0));

/// Messages of every kind are on their way through a ring of three; carriers move them.
struct Scene {
  Network net{{.rows = 1, .columns = 3}};
  Scene() {
    EXPECT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
    EXPECT_TRUE(net.mesh().inject(0, low, {.destination = 0, .source = 0, .multicast = true}));
    EXPECT_TRUE(
        net.mesh().inject(0, low, {.destination = 1, .source = 0, .who = For::fetch, .answer_flits = 9}));
    EXPECT_TRUE(net.mesh().inject(2, low, {.destination = 1, .source = 2}));
    EXPECT_TRUE(net.mesh().inject(2, low, {.destination = 1, .source = 2, .who = For::store}));
    EXPECT_TRUE(
        net.mesh().inject(2, low, {.destination = 1, .source = 2, .who = For::fetch, .answer_flits = 2}));
  }
  std::function<void(Steps::One&)> carrier(NodeNumber first) {
    return
        [this, first](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(first, injected, 100); };
  }
  void all_has_come() {
    for (int i = 0; i < 16; ++i) net.mesh().look_after();
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(1, 0, low), 2u);
    EXPECT_EQ(net.count(2, 0, low), 1u);
    EXPECT_EQ(net.count(0, 0, low), 1u);
    EXPECT_EQ(net.count(1, 2, low), 1u);
    EXPECT_EQ(net.count(1, 2, Counted::stored), 1u);
    EXPECT_EQ(net.count(0, 1, Counted::answered), 1u);
    EXPECT_EQ(net.count(2, 1, Counted::answered), 1u);
    EXPECT_GE(net.told(), 8u);
    // and all goes on
    for (NodeNumber from = 0; from < 3; ++from) {
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(net.mesh().inject(from, low, {.destination = (from + 1) % 3, .source = from}));
        net.mesh().carry(from, low);
      }
      EXPECT_EQ(net.count((from + 1) % 3, from, low), from == 0 ? 8u : 6u) << from;
    }
  }
};

/// How many accesses a carrier makes that nobody disturbs.
unsigned accesses_of(NodeNumber first) {
  Scene scene;
  return test::accesses_of(scene.carrier(first));
}

TEST(LiveMeshStops, AnotherGoesOnWhereACarrierWasKilled) {
  const unsigned all = accesses_of(0);
  ASSERT_GT(all, 50u);
  for (unsigned at = 0; at <= all; ++at) {
    SCOPED_TRACE(at);
    Scene scene;
    Steps::One one(scene.carrier(0));
    if (at != 0) one.go(at);
    one.kill();
    scene.all_has_come();
    if (HasFailure()) return;
  }
}

TEST(LiveMeshStops, WhoWasStoppedAndGoesOnLaterDoesNoHarm) {
  const unsigned all = accesses_of(0);
  for (unsigned at = 1; at <= all; ++at) {
    SCOPED_TRACE(at);
    Scene scene;
    Steps::One one(scene.carrier(0));
    one.go(at);
    scene.all_has_come();
    one.finish();
    EXPECT_TRUE(scene.net.is_empty());
    EXPECT_EQ(scene.net.count(1, 0, low), 8u);
    if (HasFailure()) return;
  }
}

// Two are stopped, one after the other, anywhere; a third does all; then they go on in either order, or one is killed.
TEST(LiveMeshStops, TwoWhoWereStoppedDoNoHarmEither) {
  const unsigned all = accesses_of(0);
  test::Random random(test::seed());
  for (unsigned at = 1; at <= all; ++at) {
    for (unsigned other = 1; other <= all; other += 1 + static_cast<unsigned>(random.below(16))) {
      SCOPED_TRACE(at);
      SCOPED_TRACE(other);
      Scene scene;
      Steps::One a(scene.carrier(0));
      Steps::One b(scene.carrier(random.one_in(2) ? 0 : 2));
      a.go(at);
      b.go(other);
      test::finish_somehow(a, b, random, [&] { scene.all_has_come(); });
      EXPECT_TRUE(scene.net.is_empty());
      if (HasFailure()) return;
    }
  }
}

TEST(LiveMeshStops, AnyOrderOfThreeCarriersIsAsGood) {
  test::Random random(test::seed());
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    Scene scene;
    std::deque<Steps::One> all;
    for (const NodeNumber first : {0u, 2u, 1u}) all.emplace_back(scene.carrier(first));
    test::finish_in_any_order(all, random, 4);
    EXPECT_TRUE(scene.net.is_empty()) << "nobody looks after it";
    scene.all_has_come();
    if (HasFailure()) return;
  }
}

// More carriers than a channel has places, each with a message over the same link, or into the interface's own channel: some find no
// room. Nobody looks after them.
TEST(LiveMeshStops, NothingIsForgottenWhereRoomIsShort) {
  test::Random random(test::seed());
  std::uint64_t refused = 0;
  std::uint64_t unanswered = 0;
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE(round);
    Network net({.rows = 1, .columns = 2, .wraps = false});
    constexpr unsigned carriers = 9;
    unsigned accepted = 0;
    const bool fetches = round % 2 == 1;
    const Carried message{
        .destination = 1, .source = 0, .who = fetches ? For::fetch : For::processor, .answer_flits = 3};
    std::deque<Steps::One> all;
    for (unsigned i = 0; i < carriers; ++i) {
      all.emplace_back([&](Steps::One& one) {
        if (net.mesh().inject(0, low, message)) ++accepted;
        Carrier<Stops>(net.mesh(), Stops{&one}).run(0, injected, 100);
      });
    }
    test::finish_in_any_order(all, random, 2 + random.below(40));
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(fetches ? net.count(0, 1, Counted::answered) : net.count(1, 0, low), accepted);
    for (unsigned input = 0; input < channels; ++input) {
      refused += net.mesh().router(0).inputs[input].refused;
      unanswered += net.mesh().router(1).inputs[input].refused;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 10u);
  EXPECT_GT(unanswered, 10u);
}

// It finds no room, and is stopped anywhere; meanwhile there is room again, and whoever has made it goes.
TEST(LiveMeshStops, WhoFindsNoRoomHearsOfIt) {
  bool ended = false;
  for (unsigned at = 1; !ended; ++at) {
    SCOPED_TRACE(at);
    Network net({.rows = 1, .columns = 2, .wraps = false});
    const LiveRouter& first = net.mesh().router(0);
    const am::kit::LiveChannel& link = net.mesh().router(1).inputs[channel(am::kit::Grid::down(0), low, 0)];
    for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
      ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
      Steps::One killed(
          [&](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(0, injected, 100); });
      while (am::kit::Entry{link.entries}.count() != i + 1 || first.inputs[0].left != i + 1)
        ASSERT_TRUE(killed.go(1));
    }
    ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
    Steps::One one([&](Steps::One& it) { Carrier<Stops>(net.mesh(), Stops{&it}).run(0, injected, 100); });
    ended = !one.go(at);
    Carrier<>(net.mesh()).run(1, ~am::kit::Requests{0}, 100);
    one.finish();
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(1, 0, low), 5u);
    if (HasFailure()) return;
  }
}

// A fetch finds no room for its answer, and is stopped anywhere; meanwhile there is room again, and whoever has made it goes.
TEST(LiveMeshStops, WhoCannotBeAnsweredHearsOfIt) {
  const Carried fetch{.destination = 1, .source = 0, .who = For::fetch, .answer_flits = 3};
  constexpr am::kit::Requests answering = am::kit::request(answers);
  bool ended = false;
  for (unsigned at = 1; !ended; ++at) {
    SCOPED_TRACE(at);
    Network net({.rows = 1, .columns = 2, .wraps = false});
    const LiveRouter& second = net.mesh().router(1);
    const unsigned link = channel(am::kit::Grid::down(0), low, 0);
    for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
      ASSERT_TRUE(net.mesh().inject(0, low, fetch));
      Steps::One killed(
          [&](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(0, injected, 100); });
      while (am::kit::Entry{second.inputs[answers].entries}.count() != i + 1 ||
             second.inputs[link].left != i + 1)
        ASSERT_TRUE(killed.go(1));
    }
    ASSERT_TRUE(net.mesh().inject(0, low, fetch));
    Steps::One one([&](Steps::One& it) { Carrier<Stops>(net.mesh(), Stops{&it}).run(0, injected, 100); });
    ended = !one.go(at);
    Carrier<>(net.mesh()).run(1, answering, 100);
    one.finish();
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(0, 1, Counted::answered), 5u);
    if (HasFailure()) return;
  }
}

// A mark is taken back at the very moment when somebody else relies on it; nobody looks after anything.
TEST(LiveMeshStops, WhoTakesAMarkBackLooksForWhoReliedOnIt) {
  Network net({.rows = 1, .columns = 2, .wraps = false});
  const Carried message{.destination = 1, .source = 0};
  const LiveRouter& first = net.mesh().router(0);
  const am::kit::LiveChannel& link = net.mesh().router(1).inputs[channel(am::kit::Grid::down(0), low, 0)];
  const auto carrier = [&](am::kit::Requests inputs, unsigned steps) {
    return [&net, inputs, steps](Steps::One& one) {
      Carrier<Stops>(net.mesh(), Stops{&one}).run(0, inputs, steps);
    };
  };
  // The link is full of packets whose carriers are stopped.
  std::deque<Steps::One> holders;
  for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
    ASSERT_TRUE(net.mesh().inject(0, low, message));
    Steps::One& holder = holders.emplace_back(carrier(injected, 100));
    do {
      ASSERT_TRUE(holder.go(1));
    } while (am::kit::Entry{link.entries}.count() != i + 1 || first.inputs[0].left != i + 1);
  }
  Steps::One(carrier(injected, 0)).finish();  // gives up, and leaves a mark where nothing is left
  ASSERT_EQ(first.waiting.load(), injected);
  Steps::One finds_nothing(carrier(0, 100));
  ASSERT_TRUE(
      finds_nothing.go(1 + 1 + 2));  // the marks, what has left, the place: it is about to take the mark back
  ASSERT_TRUE(net.mesh().inject(0, low, message));
  Steps::One(carrier(injected, 100)).finish();  // no room; the mark stands already
  while (first.waiting.load() != 0) ASSERT_TRUE(finds_nothing.go(1));
  for (Steps::One& holder : holders) holder.finish();
  finds_nothing.finish();
  EXPECT_TRUE(net.is_empty());
  EXPECT_EQ(net.count(1, 0, low), 5u);
}

// One finds nothing where a mark stands, and moves another packet; meanwhile one has come there that finds no room, and then there is.
TEST(LiveMeshStops, WhatComesWhileAnotherMovesIsNotForgotten) {
  Network net({.rows = 1, .columns = 2, .wraps = false});
  const Carried message{.destination = 1, .source = 0};
  constexpr am::kit::Requests injected_high = am::kit::request(channel(0, high, 0));
  const LiveRouter& first = net.mesh().router(0);
  const am::kit::LiveChannel& link = net.mesh().router(1).inputs[channel(am::kit::Grid::down(0), low, 0)];
  const auto carrier = [&](am::kit::Requests inputs, unsigned steps) {
    return [&net, inputs, steps](Steps::One& one) {
      Carrier<Stops>(net.mesh(), Stops{&one}).run(0, inputs, steps);
    };
  };
  std::deque<Steps::One> holders;
  for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
    ASSERT_TRUE(net.mesh().inject(0, low, message));
    Steps::One& holder = holders.emplace_back(carrier(injected, 100));
    do {
      ASSERT_TRUE(holder.go(1));
    } while (am::kit::Entry{link.entries}.count() != i + 1 || first.inputs[0].left != i + 1);
    ASSERT_TRUE(holder.go(3));  // has looked what is next here, and goes on to the next router
  }
  Steps::One(carrier(injected, 0)).finish();  // gives up, and leaves a mark where nothing is left
  ASSERT_EQ(first.waiting.load(), injected);
  ASSERT_TRUE(net.mesh().inject(0, high, {.destination = 0, .source = 0}));
  Steps::One moves(carrier(injected_high, 100));
  ASSERT_TRUE(moves.go(1 + 1 + 2 + 2));  // the marks, both firsts: it is about to take the mark of low back
  ASSERT_EQ(first.waiting.load(), injected);
  ASSERT_EQ(net.count(0, 0, high), 0u);
  ASSERT_TRUE(net.mesh().inject(0, low, message));
  Steps::One(carrier(injected, 100)).finish();  // no room; the mark stands already
  ASSERT_TRUE(moves.go(1));
  ASSERT_EQ(first.waiting.load(), 0u);
  for (Steps::One& holder : holders) holder.finish();
  moves.finish();
  EXPECT_EQ(net.count(0, 0, high), 1u);
  EXPECT_TRUE(net.is_empty());
  EXPECT_EQ(net.count(1, 0, low), 5u);
  EXPECT_EQ(first.waiting.load(), 0u);
}

// One is killed on the way, another when it looks after routers: whatever it was about to forget.
TEST(LiveMeshStops, IsFoundAlsoWhenWhoLooksAfterItIsKilled) {
  const unsigned all = accesses_of(0);
  test::Random random(test::seed());
  const auto look_after_all = [](Scene& scene) {
    return [&scene](Steps::One& one) {
      for (NodeNumber node = 0; node < 3; ++node)
        Carrier<Stops>(scene.net.mesh(), Stops{&one}).look_after(node, true, 100);
    };
  };
  for (unsigned at = 1; at <= all; ++at) {
    for (unsigned other = 1; other <= 400; other += 1 + static_cast<unsigned>(random.below(60))) {
      SCOPED_TRACE(at);
      SCOPED_TRACE(other);
      Scene scene;
      Steps::One carrier(scene.carrier(0));
      carrier.go(at);
      Steps::One looks(look_after_all(scene));
      looks.go(other);
      carrier.kill();
      looks.kill();
      scene.all_has_come();
      if (HasFailure()) return;
    }
  }
}

// Two are killed, one after the other, with messages that come to the same node by two inputs and are counted together; a third needs the
// channel into which the second has let its message: it has to bring on that one, and for this the first one.
TEST(LiveMeshStops, WhoComesNextBringsOnWhatIsInItsWay) {
  const auto carrier = [](Network& net, NodeNumber first) {
    return
        [&net, first](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(first, injected, 100); };
  };
  const Carried round{.destination = 0, .source = 0, .multicast = true};
  bool first_ended = false;
  for (unsigned first_at = 1; !first_ended; ++first_at) {
    bool second_ended = false;
    for (unsigned second_at = 1; !second_ended; ++second_at) {
      SCOPED_TRACE(first_at);
      SCOPED_TRACE(second_at);
      Network net({.rows = 1, .columns = 3});
      ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
      Steps::One first(carrier(net, 0));
      first_ended = !first.go(first_at);
      ASSERT_TRUE(net.mesh().inject(0, low, round));
      Steps::One second(carrier(net, 0));
      second_ended = !second.go(second_at);
      first.kill();
      second.kill();
      ASSERT_TRUE(net.mesh().inject(1, low, {.destination = 1, .source = 1, .multicast = true}));
      net.mesh().carry(1, low);
      for (int i = 0; i < 16; ++i) net.mesh().look_after();
      EXPECT_TRUE(net.is_empty());
      EXPECT_EQ(net.count(1, 0, low), 2u);
      for (const auto& [at, from] : {std::pair{2u, 0u}, {0u, 0u}, {2u, 1u}, {0u, 1u}, {1u, 1u}})
        EXPECT_EQ(net.count(at, from, low), 1u) << at << " from " << from;
      if (HasFailure()) return;
    }
  }
}

// More than a carrier can remember, or may do in one go, is left to others.
TEST(LiveMeshStops, WhatACarrierGivesUpIsLeftToOthers) {
  for (unsigned steps = 0; steps < 12; ++steps) {
    Scene scene;
    Carrier<>(scene.net.mesh()).run(0, injected, steps);
    Carrier<>(scene.net.mesh()).run(2, injected, steps);
    scene.all_has_come();
    if (HasFailure()) return;
  }
}

}  // namespace
