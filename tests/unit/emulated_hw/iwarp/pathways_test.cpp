// Pathways of iWarp: criteria IW-5, IW-14, IW-17 to IW-21, IW-25 to IW-28, IW-36b, IW-37, IW-45, IW-46, IW-49 (Borkar et al. 1990, 3.2,
// 6, 8). Joint cells: joints_test.cpp.
#include <gmock/gmock.h>

#include <random>

#include "array.hpp"
#include "unit/emulated_hw/kit/channels.hpp"

namespace am::iwarp::pathways_test {

using enum Direction;
using test::Array;
using test::arrival;
using test::count;
using test::pathway_end;
using testing::HasSubstr;

const kit::Grid mesh44({{4}, {4}});
const kit::Grid torus44({{4, true}, {4, true}});

/// IW-45, IW-46, IW-49, IW-21: a marker that leaves now is at the next cell after the bus, 200 ns for each cell that it passes straight on, 250
/// at each corner; of the open pool, too. A route turns as often as it likes, also back.
TEST(IwarpPathways, TakeTheTimeOfTheirSigns) {
  struct Row {
    std::vector<Leg> legs;
    unsigned straight, corners;
  };
  const std::vector<Row> rows = {
      {{{x_right, 1}}, 0, 0},
      {{{x_right, 3}}, 2, 0},
      {{{x_right, 3}, {y_up, 2}}, 3, 1},
      {{{y_up, 1}, {x_right, 1}, {y_up, 1}, {x_right, 1}}, 0, 3},
      {{{x_right, 1}, {x_left, 1}, {y_up, 2}}, 1, 2},
      {{{x_right, 1}, {y_up, 1}, {x_left, 1}, {y_down, 1}, {x_right, 2}}, 1, 4},
  };
  for (const Pool pool : {Pool::reservation, Pool::open}) {
    for (const Row& row : rows) {
      Array array(grid_wiring(mesh44), Share{.reservation = 2, .open = 2, .open_over_edge = 0});
      std::vector<Leg> legs = row.legs;
      for (Leg& leg : legs) leg.pool = pool;
      const Route route = along(array.network.wiring(), 0, legs);
      EXPECT_EQ(route.signs.size(), 1 + row.corners);
      ASSERT_NE(array.open(0, route), nullptr);
      EXPECT_EQ(arrival(array, route.destination()), 2 + 4 * row.straight + 5 * row.corners);
    }
  }
}

/// IW-17, IW-18, IW-19, IW-26: the source sends before the pathway is there; it takes one channel of each bus, and its words no other; the end
/// marker frees them. Events say so at the destination.
TEST(IwarpPathways, AreSetUpUsedAndDismantled) {
  Array array(grid_wiring(mesh44));
  CommunicationAgent& last = array.network.agent(11);
  last.watch(Event::pathway_end, ~kit::Requests{0});
  for (int times = 0; times < 3; ++times) {
    array.came.clear();
    Array::Source* source = array.open(0, {{x_right, 3}, {y_up, 2}});
    array.send(source, 100, 50);
    array.run(12);
    EXPECT_GE(source->accepted, 3u);
    EXPECT_EQ(last.posted(Event::pathway_begin), 0u) << "the header is on its way";
    array.run_dry();
    EXPECT_EQ(array.data(11, 0), count(100, 50));
    EXPECT_EQ(array.assigned(), 5u);
    const kit::Requests begun = last.posted(Event::pathway_begin);
    EXPECT_TRUE(kit::is_one(begun));
    last.clear(Event::pathway_begin, static_cast<Channel>(kit::first_of(begun)));
    source->words.push_back(pathway_end);
    array.run_dry();
    EXPECT_EQ(array.assigned(), 0u);
    EXPECT_EQ(last.posted(Event::pathway_end), begun);
    last.clear(Event::pathway_end, static_cast<Channel>(kit::first_of(begun)));
  }
  EXPECT_EQ(kit::who_waits(array.network), "");
  std::uint64_t words = 0;
  for (CellNumber cell = 0; cell < array.network.cells(); ++cell) {
    for (Channel channel = 0; channel < array.network.agent(cell).outputs(); ++channel)
      words += array.network.agent(cell).output(channel).carried;
  }
  EXPECT_EQ(words, 3u * (5 * 52 + 3))
      << "the second sign ends where the first one does, no other channel carried any";
}

/// IW-17: a marker that has waited behind another pathway is matched when that has left, however long it has been there.
TEST(IwarpPathways, AreMatchedWhenTheyAreTheFirst) {
  Array array(grid_wiring(kit::Grid({{3}, {2}})), Share{.reservation = 1, .open = 0, .open_over_edge = 0});
  array.is_deaf[2] = true;
  Array::Source* before = array.open(0, {{x_right, 2}});
  array.send(before, 0, 14);
  before->words.push_back(pathway_end);
  array.run_dry();
  Array::Source* turns = array.open(0, {{x_right, 1}, {y_up, 1}});
  array.run_dry();
  CommunicationAgent& agent = array.network.agent(1);
  const Channel up = agent.input(array.network.agent(0).output(turns->output).to.channel).out;
  ASSERT_EQ(up, 0) << "it still goes straight on";
  array.is_deaf[2] = false;
  while (array.assigned(1, x_right) != 0) array.step();
  const Cycle left = array.network.now();
  while (array.assigned(1, y_up) == 0) array.step();
  EXPECT_EQ(array.network.now() - left, costs::corner);
  array.send(turns, 70, 2);
  array.run_dry();
  EXPECT_EQ(array.data(2, 0).size(), 14u);
  EXPECT_EQ(array.data(4, 0), count(70, 2));
}

/// Short pathways that lie behind one another in a queue are taken one by one.
TEST(IwarpPathways, DoNotMixInAQueue) {
  Array array(grid_wiring(kit::Grid({{2}})), Share{.reservation = 1, .open = 0, .open_over_edge = 0});
  array.is_deaf[1] = true;
  for (Data first = 0; first < 30; first += 10) {
    Array::Source* source = array.open(0, {{x_right, 1}});
    ASSERT_NE(source, nullptr);
    array.send(source, first, 1);
    source->words.push_back(pathway_end);
    array.run_dry();
  }
  EXPECT_EQ(array.network.under_way(), 2u + 3 + 3) << "the first begin marker has been taken";
  array.is_deaf[1] = false;
  array.run_dry();
  EXPECT_EQ(array.data(1, 0), (std::vector<Data>{0, 10, 20}));
  EXPECT_EQ((array.came[{1, 0}].size()), 2u * 3) << "no begin marker is the program's";
}

/// IW-17: without a free channel a begin marker is blocked and repeated; whoever has one, and who waits for whom, is known.
TEST(IwarpPathways, AreBlockedUntilAChannelIsFree) {
  const kit::Grid row({{5}, {3}});
  Array array(grid_wiring(row), Share{.reservation = 1, .open = 1, .open_over_edge = 0});
  Array::Source* first = array.open(7, {{x_right, 2}});  // all of cell 7's to the right
  Array::Source* straight = array.open(6, {{x_right, 3}});
  Array::Source* turned = array.open(2, {{y_up, 1}, {x_right, 2}});
  for (Array::Source* source : {first, straight, turned}) array.send(source, 1, 3);
  array.run_dry();
  EXPECT_TRUE(array.data(9, 6).empty() && array.data(9, 2).empty());
  EXPECT_THAT(kit::who_waits(array.network), HasSubstr("a pathway of cell 6 waits for a channel"));
  for (Array::Source* ends : {first, straight, turned}) {
    ends->words.push_back(pathway_end);
    array.run_dry();
  }
  EXPECT_EQ(array.data(9, 6), count(1, 3));
  EXPECT_EQ(array.data(9, 2), count(1, 3));
  EXPECT_EQ(array.assigned(), 0u);
}

/// IW-17 [A]: those that are blocked have the channels in turns.
TEST(IwarpPathways, ThatAreBlockedHaveTheChannelInTurns) {
  Array array(grid_wiring(kit::Grid({{5}, {3}})), Share{.reservation = 1, .open = 1, .open_over_edge = 0});
  std::map<CellNumber, unsigned> left{{2, 10}, {6, 10}, {12, 10}};
  for (int cycle = 0; cycle < 3000; ++cycle, array.step()) {
    for (auto& [from, pathways] : left) {
      Array::Source* source = nullptr;
      if (pathways != 0 && from == 6) source = array.open(6, {{x_right, 3}});
      if (pathways != 0 && from != 6)
        source = array.open(from, {{from == 2 ? y_up : y_down, 1}, {x_right, 2}});
      if (source == nullptr) continue;
      --pathways;
      array.send(source, 0, 30);
      source->words.push_back(pathway_end);
    }
  }
  std::vector<std::pair<Cycle, CellNumber>> ends;
  for (const CellNumber from : {2u, 6u, 12u}) {
    for (const auto& [word, at] : array.came[{9, from}]) {
      if (word == pathway_end) ends.emplace_back(at, from);
    }
  }
  std::ranges::sort(ends);
  ASSERT_EQ(ends.size(), 30u);
  for (std::size_t i = 3; i < ends.size(); ++i) EXPECT_EQ(ends[i].second, ends[i - 3].second) << i;
}

/// IW-20: at the edge of an array a pathway that nobody matches is reported and discarded, and its channels are free when its end has come.
/// Also one that turns where there is no bus.
TEST(IwarpPathways, ThatLeaveTheArrayAreReported) {
  for (const auto& turn : {std::optional<Direction>{}, std::optional{y_down}}) {
    Array array(grid_wiring(mesh44));
    Route route{x_right, {{.cell = turn ? 3u : 99u, .turn = turn}}};
    if (turn) route.signs.push_back({.cell = 5});
    Array::Source* source = array.open(0, route);
    array.send(source, 0, 40);
    source->words.push_back(pathway_end);
    array.run_dry();
    EXPECT_TRUE(kit::is_one(array.network.agent(3).posted(Event::lost)));
    EXPECT_EQ(array.network.under_way(), 0u);
    EXPECT_EQ(array.assigned(), 0u);
  }
  EXPECT_THROW(Array(grid_wiring(mesh44)).open(0, {{x_right, 4}}), std::invalid_argument);
  EXPECT_THROW(Array(grid_wiring(mesh44)).open(0, {}), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(on_grid(mesh44, 3, 3, Pool::open)), std::invalid_argument);
}

/// IW-20 [V]: on a torus there is no last cell. The Flying Dutchman circulates until it holds all channels of its ring, and blocks others;
/// where its cell detects pathways of its own it is lost there.
TEST(IwarpPathways, CirculateUnlessTheirCellDetectsThem) {
  for (const bool detects : {false, true}) {
    Array array(grid_wiring(torus44));
    if (detects) array.network.agent(0).cam().load_own(0);
    array.open(0, {.first = x_right, .signs = {{.cell = 99, .origin = 0}}})->words.push_back(pathway_end);
    // Without its end marker it holds what it has: so it is sent later.
    Array::Source& dutchman = array.sources.front();
    dutchman.words.pop_back();
    array.run_dry();
    EXPECT_EQ(array.assigned(), detects ? 4u : 8u) << "once round, or until none is left";
    EXPECT_EQ(array.network.agent(0).posted(Event::lost) != 0, detects);
    Array::Source* other = array.open(1, {{x_right, 1}});
    EXPECT_EQ(other != nullptr, detects) << "who needs that ring gets nothing";
    if (!detects) continue;
    dutchman.words.push_back(pathway_end);
    other->words.push_back(pathway_end);
    array.run_dry();
    EXPECT_EQ(array.assigned(), 0u);
  }
}

// -- pools

/// IW-25, IW-14: networks of pathways on one array, disjoint in their cells or not, keep what each is guaranteed: where k channels share a bus,
/// 40 / k MB/s.
TEST(IwarpPathways, KeepTheirGuaranteeBesideOthers) {
  const auto rate = [](bool with_others) {
    Array array(grid_wiring(mesh44));
    Array::Source* one = array.open(4, {{x_right, 3}});
    array.send(one, 0, 2000);
    if (with_others) {
      array.send(array.open(4, {{x_right, 2}, {y_up, 1}}), 0, 2000);
      for (const CellNumber from : {8u, 9u, 12u}) array.send(array.open(from, {{x_right, 2}}), 0, 2000);
    }
    array.run(2000);
    return array.data(7, 4).size();
  };
  EXPECT_GT(rate(false), 980u);
  EXPECT_NEAR(static_cast<double>(rate(true)), 500, 20) << "two share its bus; the others do not count";
}

/// The channels of the open pool, as a packet has one and waits for the next.
void add_waits(const kit::Grid& grid, const kit::Wiring& wiring, CellNumber from, CellNumber to,
               bool has_classes, kit::test_channels::Waits& waits_for) {
  using kit::test_channels::Channel;
  std::optional<Channel> has;
  CellNumber cell = from;
  for (const Leg& leg : on_grid(grid, from, to, Pool::open)) {
    for (unsigned i = 0; i < leg.busses; ++i) {
      const Channel next{cell, port(leg.direction), has_classes ? static_cast<unsigned>(leg.pool) : 0};
      if (has) waits_for[*has].insert(next);
      has = next;
      cell = neighbour(wiring, cell, leg.direction);
    }
  }
  ASSERT_EQ(cell, to);
}

/// IW-27: the routes of the open pool use channels in no circle, on meshes and tori; with one class a torus has circles.
TEST(IwarpOpenPool, HasNoCircleOfChannels) {
  for (const auto& [columns, rows, wraps] :
       {std::tuple{6u, 2u, true}, {5u, 3u, true}, {8u, 8u, true}, {4u, 4u, false}}) {
    const kit::Grid grid({{columns, wraps}, {rows, wraps}});
    const kit::Wiring wiring = grid_wiring(grid);
    kit::test_channels::Waits with, without;
    for (CellNumber from = 0; from < grid.nodes(); ++from) {
      for (CellNumber to = 0; to < grid.nodes(); ++to) {
        if (from == to) continue;
        add_waits(grid, wiring, from, to, true, with);
        add_waits(grid, wiring, from, to, false, without);
      }
    }
    EXPECT_FALSE(kit::test_channels::has_circle(with));
    EXPECT_EQ(kit::test_channels::has_circle(without), wraps);
  }
}

/// Messages of the open pool from all cells to all, one after the other from each; or as many as there are after that many cycles.
std::uint64_t all_to_all(const kit::Grid& grid, const Share& share, bool has_classes) {
  Array array(grid_wiring(grid), share);
  std::vector<CellNumber> next(grid.nodes(), 1);
  Cycle still = 0;
  std::vector<Array::Source*> sending(grid.nodes());
  for (; still < 300;
       still = array.network.under_way() == 0 || array.network.still_for() > 1 ? still + 1 : 0) {
    for (CellNumber cell = 0; cell < grid.nodes(); ++cell) {
      if (next[cell] == grid.nodes() || (sending[cell] != nullptr && !sending[cell]->words.empty())) continue;
      std::vector<Leg> legs = on_grid(grid, cell, (cell + next[cell]) % grid.nodes(), Pool::open);
      for (Leg& leg : legs) leg.pool = has_classes ? leg.pool : Pool::open;
      Array::Source* const source = array.open(cell, along(array.network.wiring(), cell, legs));
      if (source == nullptr) continue;
      sending[cell] = source;
      array.send(source, cell << 8, 12);
      source->words.push_back(pathway_end);
      ++next[cell];
    }
    array.step();
  }
  std::uint64_t came = 0;
  for (const auto& [ends, words] : array.came)
    came += static_cast<std::uint64_t>(
        std::ranges::count(words, pathway_end, [](const auto& one) { return one.word; }));
  EXPECT_EQ(array.assigned() == 0, came == grid.nodes() * (grid.nodes() - 1));
  return came;
}

/// IW-27: all messages come, with one channel of each class on each bus. Four in a ring without classes stop for ever.
TEST(IwarpOpenPool, BringsAllMessages) {
  const Share one_each{.reservation = 0, .open = 1, .open_over_edge = 1};
  EXPECT_EQ(all_to_all(kit::Grid({{5, true}, {4, true}}), one_each, true), 20u * 19);
  EXPECT_EQ(all_to_all(mesh44, {.reservation = 0, .open = 1, .open_over_edge = 0}, true), 16u * 15);
  EXPECT_LT(all_to_all(kit::Grid({{6, true}}), {.reservation = 0, .open = 1, .open_over_edge = 0}, false),
            6u * 5);
}

/// IW-28 [V]: who holds all reservation channels of a bus starves other pathways, for as long as he likes; messages of the open pool pass.
TEST(IwarpOpenPool, IsNotStarvedByReservations) {
  Array array(grid_wiring(mesh44));
  for (int i = 0; i < 2; ++i) array.send(array.open(5, {{x_right, 1}}), 0, 10'000);
  Array::Source* starved = array.open(4, {{x_right, 3}});
  array.send(starved, 7, 1);
  array.run(5000);
  EXPECT_TRUE(array.data(7, 4).empty());
  Array::Source* passes = array.open(4, {{x_right, 3, Pool::open}});
  array.send(passes, 7, 100);
  passes->words.push_back(pathway_end);
  array.run(2 * 3 * 103 + 100);
  EXPECT_EQ(array.data(7, 4), count(7, 100)) << "a third of the bus";
}

// -- other wirings

/// IW-5: the hexagonal array, with six neighbours each; pathways along its three streams, around corners, too.
TEST(IwarpPathways, CrossAHexagonalArray) {
  const kit::Wiring wiring = hexagonal_wiring(4, 4);
  EXPECT_EQ(wiring.out_of(5)[port(x_left)] == wiring.into(5)[port(x_left)], false);
  Array array(wiring, Share{.reservation = 4, .open = 1, .open_over_edge = 0});
  array.send(array.open(4, {{x_right, 3}}), 10, 20);
  array.send(array.open(1, {{y_up, 3}}), 30, 20);
  array.send(array.open(15, {{x_left, 3}}), 50, 20);
  array.send(array.open(15, {{x_left, 1}, {x_right, 1}, {y_up, 1}, {x_left, 2}}), 70, 20);
  array.run_dry();
  EXPECT_EQ(array.data(7, 4), count(10, 20));
  EXPECT_EQ(array.data(13, 1), count(30, 20));
  EXPECT_EQ(array.data(0, 15), count(50, 20));
  EXPECT_EQ(array.data(5, 15), count(70, 20));
}

/// IW-37: the same connections on a grid: each diagonal is a horizontal and a vertical channel.
TEST(IwarpPathways, MakeAHexagonalArrayOfAGrid) {
  Array array(grid_wiring(mesh44));
  unsigned pathways = 0;
  for (CellNumber cell = 0; cell < 16; ++cell) {
    if (cell % 4 != 3) pathways += array.open(cell, {{x_right, 1}}) != nullptr ? 1 : 0;
    if (cell < 12) pathways += array.open(cell, {{y_up, 1}}) != nullptr ? 1 : 0;
    if (cell % 4 != 0 && cell >= 4)
      pathways += array.open(cell, {{x_left, 1}, {y_down, 1}}) != nullptr ? 1 : 0;
  }
  for (Array::Source& source : array.sources) array.send(&source, source.cell * 100, 10);
  array.run_dry();
  EXPECT_EQ(pathways, 12u + 12 + 9);
  for (CellNumber cell = 5; cell < 16; ++cell) {
    EXPECT_EQ(array.data(cell - 5, cell), count(cell * 100, cell % 4 != 0 ? 10 : 0)) << cell;
  }
  EXPECT_EQ(array.network.under_way(), 0u);
}

/// A shortest way around cells that are faulty; or none.
std::optional<std::vector<Leg>> around(const kit::Wiring& wiring, CellNumber from, CellNumber to,
                                       const std::vector<bool>& faulty) {
  struct Came {
    CellNumber from = kit::nowhere;
    Direction by{};
  };
  std::vector<Came> came(wiring.routers());
  std::deque<CellNumber> next{from};
  came.at(from).from = from;
  while (!next.empty() && came.at(to).from == kit::nowhere) {
    const CellNumber cell = next.front();
    next.pop_front();
    for (unsigned side = 0; side < directions; ++side) {
      const CellNumber there = neighbour(wiring, cell, static_cast<Direction>(side));
      if (there == kit::nowhere || faulty.at(there) || came[there].from != kit::nowhere) continue;
      came[there] = {cell, static_cast<Direction>(side)};
      next.push_back(there);
    }
  }
  if (from == to || came.at(to).from == kit::nowhere) return {};
  std::vector<Leg> legs;
  for (CellNumber cell = to; cell != from; cell = came[cell].from) {
    if (!legs.empty() && legs.back().direction == came[cell].by) {
      ++legs.back().busses;
    } else {
      legs.push_back({.direction = came[cell].by, .busses = 1});
    }
  }
  std::ranges::reverse(legs);
  return legs;
}

/// IW-36b, IW-37: of pathways between all cells of a row of neighbours that are well, what share is set up around faulty cells, by the number
/// of channels of each bus. More channels, more pathways; about ten do for nearly all.
TEST(IwarpPathways, GoAroundFaultyCells) {
  const kit::Grid grid({{8}, {8}});
  const kit::Wiring wiring = grid_wiring(grid);
  std::vector<unsigned> set_up;
  unsigned all = 0;
  for (const unsigned channels : {1u, 2u, 3u, 4u}) {  // and what is left is for the cells themselves
    std::mt19937 random(5);
    set_up.push_back(0);
    all = 0;
    for (int times = 0; times < 4; ++times) {
      std::vector<bool> faulty(64);
      for (int i = 0; i < 6; ++i) faulty[random() % 64] = true;
      Array array(wiring, Share{.reservation = channels, .open = 0, .open_over_edge = 0});
      std::vector<std::pair<CellNumber, CellNumber>> ends;
      for (CellNumber cell = 0; cell < 64; ++cell) {
        const CellNumber to = (cell + 1 + random() % 3 * 8) % 64;
        if (faulty[cell] || faulty[to] || cell == to) continue;
        const auto legs = around(wiring, cell, to, faulty);
        if (!legs) continue;
        ++all;
        Array::Source* source = array.open(cell, along(wiring, cell, *legs));
        if (source == nullptr) continue;
        array.send(source, cell, 1);
        ends.emplace_back(to, cell);
      }
      array.run_dry();
      for (const auto& [to, from] : ends) set_up.back() += static_cast<unsigned>(array.data(to, from).size());
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(set_up));
  EXPECT_LT(set_up.front(), all * 3 / 4);
  EXPECT_GT(set_up.back(), all * 9 / 10);
  EXPECT_EQ(all, 210u);
}

}  // namespace am::iwarp::pathways_test
