// Busses and logical channels of iWarp: criteria IW-1 to IW-16 (Borkar et al. 1990, 4, 5).

#include "array.hpp"

namespace am::iwarp::channels_test {

using enum Direction;
using test::Array;

const kit::Grid two({{2}});

/// IW-2, IW-4, IW-6, IW-8 [P][D]: what words of 32 bits in 2 cycles of 50 ns come to, in MB/s.
TEST(IwarpChannels, HaveThePrintedBandwidths) {
  constexpr unsigned bus = 4 * 1000 / (costs::bus * costs::ns);
  EXPECT_EQ(bus, 40u);
  EXPECT_EQ(2 * directions * bus, 320u);
  EXPECT_EQ(4 * 4 * 1000 / (costs::gates * costs::ns), 160u) << "four gates";
  EXPECT_EQ(1024 * directions * bus, 163'840u) << "160 GB/s";
  EXPECT_GE(most_cells, 1024u);
  EXPECT_EQ(2 * most_channels, 40u);
}

/// IW-3, IW-4: all eight busses of a cell at once, each a word in 2 cycles.
TEST(IwarpChannels, UseAllEightBussesOfACellAtOnce) {
  const kit::Grid torus({{4, true}, {4, true}});
  Array array(grid_wiring(torus));
  constexpr CellNumber cell = 5;
  std::vector<Array::Source*> sources;
  for (unsigned side = 0; side < directions; ++side) {
    const auto out = static_cast<Direction>(side);
    sources.push_back(array.open(cell, {{out, 1}}));
    sources.push_back(array.open(neighbour(array.network.wiring(), cell, out), {{opposite(out), 1}}));
  }
  for (Array::Source* source : sources) array.send(source, 0, 600);
  array.run(100);
  const auto carried = [&] {
    std::uint64_t words = 0;
    for (const Array::Source* source : sources)
      words += array.network.agent(source->cell).output(source->output).carried;
    return words;
  };
  const std::uint64_t before = carried();
  array.run(1000);
  EXPECT_EQ(carried() - before, 8u * 500) << "4 bytes each in 50 us: 320 MB/s";
}

/// IW-7, IW-9, IW-10 [P]: Figure 7's allocation, of the cell in the middle.
TEST(IwarpChannels, AreAllocatedAsInFigure7) {
  const kit::Wiring wiring = grid_wiring(kit::Grid({{3}, {3}}));
  Allocation allocation(wiring.wires().size(), {.reservation = 1, .open = 0, .open_over_edge = 0});
  constexpr std::array<unsigned, directions> in{4, 2, 4, 4}, out{4, 4, 6, 6};  // right, upper, left, lower
  for (unsigned side = 0; side < directions; ++side) {
    allocation[wiring.into(4)[side]].reservation = in[side];
    allocation[wiring.out_of(4)[side]].reservation = out[side];
  }
  Network network(wiring, allocation);
  const CommunicationAgent& cell = network.agent(4);
  std::array<unsigned, directions> inputs{}, outputs{};
  unsigned own = 0;
  for (Channel channel = 0; channel < most_channels; ++channel) {
    const Input& input = cell.input(channel);
    const Output& output = cell.output(channel);
    if (input.bus) {
      ++inputs[port(*input.bus)];
      EXPECT_EQ(network.agent(input.from.cell).output(input.from.channel).to.channel, channel) << "matching";
    } else {
      ++own;
    }
    ++outputs[port(output.bus)];
    EXPECT_EQ(output.to.cell, neighbour(wiring, 4, output.bus));
  }
  EXPECT_EQ(inputs, in);
  EXPECT_EQ(outputs, out);
  EXPECT_EQ(own, 6u) << "to the computation agent 2, for memory 2, unused 2: as the program takes them";
  EXPECT_EQ(most_channels, 20u);

  ++allocation[wiring.out_of(4)[port(x_right)]].open;
  EXPECT_THROW(Network(wiring, allocation), std::length_error);
  EXPECT_THROW(Network(wiring, Share{}, {.queue = 9}), std::invalid_argument);
  EXPECT_THROW(Network(wiring, Allocation(3)), std::invalid_argument);
}

/// IW-11: the transmitter takes any of its free channels, and asks nobody; whose queue the receiver does not empty it may take the others.
TEST(IwarpChannels, AreAssignedByTheTransmitter) {
  Array array(grid_wiring(two), Share{.reservation = 3, .open = 1, .open_over_edge = 0});
  array.is_deaf[1] = true;
  for (unsigned i = 0; i < 3; ++i) {
    Array::Source* source = array.open(0, {{x_right, 1}});
    ASSERT_NE(source, nullptr) << "before a cycle has passed";
    EXPECT_EQ(source->output, i);
    array.send(source, 0, 20);
  }
  EXPECT_EQ(array.open(0, {{x_right, 1}}), nullptr);
  EXPECT_NE(array.open(0, {{x_right, 1, Pool::open}}), nullptr) << "the other pool's is its own";
  array.run_dry();
  EXPECT_EQ(array.assigned(0, x_right), 4u);
}

/// IW-12, IW-15 [D]: of a queue of d words, where the loop is a word's way there, through it, and the dequeue signal's back: one channel alone
/// carries min(1 / 2, d / loop). Eight words do for 16 cycles, and for no more. What is assumed of the loop is swept.
TEST(IwarpChannels, CarryAsManyWordsAsTheirQueuesLetThem) {
  for (const auto& [word, dequeue] :
       {std::pair{costs::word, costs::dequeue}, {1u, 6u}, {1u, 13u}, {2u, 4u}, {4u, 12u}}) {
    const unsigned loop = costs::bus + word + dequeue;
    for (unsigned queue = 1; queue <= queue_words; ++queue) {
      Array array(grid_wiring(kit::Grid({{3}})), Share{},
                  Network::Setting{.queue = queue, .word = word, .dequeue = dequeue});
      Array::Source* source = array.open(0, {{x_right, 2}});
      array.send(source, 0, 1000);
      array.run(200);
      const auto carried = [&] { return array.network.agent(0).output(source->output).carried; };
      const std::uint64_t before = carried();
      array.run(10 * loop);
      EXPECT_EQ(carried() - before, std::min(5 * loop, 10 * queue)) << queue << " words, loop of " << loop;
    }
  }
}

/// IW-13, IW-14 [D]: n channels on a bus: in any 2 n cycles each carries one word, and an idle one costs nothing; a word that comes to an idle
/// channel waits for one of each of the others.
TEST(IwarpChannels, HaveTheBusInTurns) {
  constexpr unsigned most = 8;
  for (unsigned n = 1; n <= most; ++n) {
    Array array(grid_wiring(two), Share{.reservation = most, .open = 0, .open_over_edge = 0});
    std::vector<Array::Source*> sources;
    for (unsigned i = 0; i < most; ++i) sources.push_back(array.open(0, {{x_right, 1}}));
    array.run(50);  // headers
    for (unsigned i = 0; i < n; ++i) array.send(sources[i], 0, 1000);
    array.run(50);
    const auto carried = [&](unsigned i) {
      return array.network.agent(0).output(sources[i]->output).carried;
    };
    std::vector<std::vector<std::uint64_t>> at(1);
    const auto note = [&] {
      for (unsigned i = 0; i < n; ++i) at.back().push_back(carried(i));
      at.emplace_back();
    };
    for (unsigned cycle = 0; cycle < 60; ++cycle) {
      note();
      if (cycle >= 2 * n) {
        for (unsigned i = 0; i < n; ++i)
          ASSERT_EQ(at[cycle][i] - at[cycle - 2 * n][i], 1u) << n << " channels";
      }
      array.step();
    }
    if (n == most) continue;
    const std::uint64_t before = carried(most - 1);
    array.send(sources[most - 1], 0, 1);
    Cycle waited = 0;
    for (; carried(most - 1) == before; ++waited) array.step();
    EXPECT_LE(waited - 1, 2 * n);
  }
}

/// IW-16 [D]: where nobody takes the words, a pathway over h busses holds 8 h, and 8 more in its source's own channel. All come, in order.
TEST(IwarpChannels, OfAPathwayAreOneQueue) {
  for (unsigned busses = 1; busses <= 5; ++busses) {
    Array array(grid_wiring(kit::Grid({{6}})));
    array.is_deaf[busses] = true;
    Array::Source* source = array.open(0, {{x_right, busses}});
    array.send(source, 0, 100);
    array.run_dry();
    EXPECT_EQ(source->accepted - 1, 8 * busses + 8) << "the header is gone";
    EXPECT_EQ(array.network.under_way(), 8 * busses + 8);
    array.is_deaf[busses] = false;
    array.run_dry();
    EXPECT_EQ(array.data(busses, 0), test::count(0, 100));
  }
}

/// IW-8: an array of 1,024 cells, across.
TEST(IwarpChannels, MakeUpALargeArray) {
  const kit::Grid torus({{32, true}, {32, true}});
  Array array(grid_wiring(torus));
  Array::Source* source =
      array.open(0, along(array.network.wiring(), 0, on_grid(torus, 0, 16 + 32 * 15, Pool::open)));
  array.send(source, 7, 3);
  array.run(4 * (16 + 15) + 30);
  EXPECT_EQ(array.data(16 + 32 * 15, 0), (std::vector<Data>{7, 8, 9}));
  EXPECT_THROW(static_cast<void>(grid_wiring(kit::Grid({{65}, {64}}))), std::invalid_argument);
  MatchCam cam(5);
  for (std::size_t i = 1; i < MatchCam::most_entries; ++i) cam.load_own(5);
  EXPECT_THROW(cam.load_own(5), std::length_error);
  EXPECT_EQ(cam.match(Sign{.cell = 5, .origin = 5}.data()), MatchCam::Match::here) << "the first entry";
}

}  // namespace am::iwarp::channels_test
