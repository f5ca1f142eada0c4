// Programs' access to communication on iWarp: criteria IW-1, IW-29, IW-38, IW-41 to IW-48, C-1 and C-3 (Borkar et al. 1990, 7.1, 7.3, 8).
#include "emulated_hw/iwarp/processor.hpp"

#include <gmock/gmock.h>

#include "emulated_hw/iwarp/machine.hpp"

namespace am::iwarp::processor_test {

using enum Direction;
using testing::HasSubstr;

const kit::Grid mesh({{8}, {8}});

Route route(Machine& machine, CellNumber from, std::initializer_list<Leg> legs) {
  return along(machine.network().wiring(), from, legs);
}
void run(Machine& machine, Cycle cycles) {
  for (Cycle cycle = 0; cycle < cycles; ++cycle) machine.step();
}
/// When a word has come to a cell, whose program takes none.
Cycle arrival(Machine& machine, CellNumber cell) {
  for (Cycle begun = machine.now(); machine.now() < begun + 1000;) {
    machine.step();
    for (Channel channel = 0; channel < most_channels; ++channel) {
      const Input& input = machine.network().agent(cell).input(channel);
      if (input.bus && !input.queue.empty()) return machine.now() - 1;
    }
  }
  return 0;
}

/// IW-41 to IW-44, IW-48 [P]: section 8, in ns. What is not there costs a request the same.
TEST(IwarpProcessor, TakesTheTimesOfSection8) {
  Machine machine(grid_wiring(mesh));
  std::vector<Cycle> took;
  machine.cell(0).run([&](Processor& cpu) -> Program {
    Cycle begun = 0;
    const auto lap = [&] {
      took.push_back((cpu.spent().all - begun) * costs::ns);
      begun = cpu.spent().all;
    };
    std::optional<Source> source = co_await cpu.request(x_right, Pool::reservation);
    lap();
    const Route up = route(machine, 0, {{y_up, 1}});
    co_await cpu.open(up, source);
    lap();
    co_await cpu.begin_message(*source, 9);
    lap();
    co_await cpu.end_message(*source);
    lap();
    co_await cpu.close(*source);
    lap();
    const Route corners = route(machine, 0, {{x_right, 1}, {y_up, 1}, {x_right, 1}});
    co_await cpu.open(corners, source);
    lap();
    source = co_await cpu.request(x_right, Pool::reservation);
    lap();
    EXPECT_FALSE(source) << "both are taken";
    for (int i = 0; i < 20; ++i) co_await cpu.request(x_right, Pool::reservation);
    source = co_await cpu.request(y_up, Pool::reservation);
    EXPECT_TRUE(source) << "what was refused holds nothing";
  });
  run(machine, 200);
  EXPECT_EQ(took, (std::vector<Cycle>{150, 150 + 100, 100, 100, 100, 150 + 100 + 2 * 50, 150}));
}

/// IW-45, IW-46, C-1 [D]: a begin marker is at its destination after 250 + 200 s + 250 c ns, and its source is free after 250 + 50 c. So (0, 0)
/// to (3, 2) takes 1100 ns and 300.
TEST(IwarpProcessor, SetsUpAPathwayInTheSumOfItsParts) {
  for (unsigned dx = 0; dx < 8; ++dx) {
    for (unsigned dy = 0; dy < 8; ++dy) {
      if (dx + dy == 0) continue;
      Machine machine(grid_wiring(mesh), {}, 1);
      Cycle free = 0;
      machine.cell(0).run([&](Processor& cpu) -> Program {
        std::optional<Source> source;
        co_await cpu.open(
            along(machine.network().wiring(), 0, on_grid(mesh, 0, dx + 8 * dy, Pool::reservation)), source);
        free = machine.now() + 1;
      });
      const unsigned corners = dx != 0 && dy != 0 ? 1 : 0;
      const Cycle came = arrival(machine, dx + 8 * dy) * costs::ns;
      EXPECT_EQ(came, 250 + 200 * (dx + dy - 1 - corners) + 250 * corners) << dx << ", " << dy;
      EXPECT_EQ(free * costs::ns, 250u + 50 * corners);
      EXPECT_TRUE(dx != 3 || dy != 2 || (came == 1100 && free * costs::ns == 300));
    }
  }
}

/// C-1: words that are written by a gate, from the first one's begin to the last one's arrival: a bus and a cell for each step, 100 ns for each
/// that follows.
TEST(IwarpProcessor, BringsWordsInTheSumOfTheParts) {
  for (unsigned busses = 1; busses < 8; ++busses) {
    for (const unsigned words : {1u, 16u}) {
      Machine machine(grid_wiring(kit::Grid({{8}})), {}, 1);
      Cycle begun = 0, came = 0;
      machine.cell(0).run([&](Processor& cpu) -> Program {
        std::optional<Source> source;
        const Route way = route(machine, 0, {{x_right, busses}});
        co_await cpu.open(way, source);
        co_await cpu.cycles(100);
        cpu.bind_out(0, source->own);
        begun = machine.now() + 1;
        for (Data i = 0; i < words; ++i) co_await cpu.write(0, {i});
      });
      machine.cell(busses).run([&](Processor& cpu) -> Program {
        cpu.bind_in(0, co_await cpu.accept(0));
        for (Data i = 0; i < words; ++i) {
          const Word word = co_await cpu.read(0);
          EXPECT_EQ(word, Word{i});
        }
        came = machine.now() + 1;
      });
      machine.run_or_throw([&] { return came != 0; });
      const Cycle way = costs::bus * busses + costs::word * (busses - 1);
      EXPECT_EQ(came - begun, way + costs::word + costs::gates * words) << busses << " busses";
    }
  }
}

/// IW-29 [P]: a three-address operation on gates is two inputs, an operation, and an output; all four gates in two cycles, 160 MB/s; where a
/// queue is empty or full the instruction stalls.
TEST(IwarpProcessor, OperatesOnAllFourGatesInTwoCycles) {
  constexpr unsigned times = 200;
  const kit::Grid row({{3}});
  Machine machine(grid_wiring(row));
  Cycle begun = 0, full_speed = 0, ended = 0;
  std::vector<Data> sums;
  const auto open_two = [&](Processor& cpu) -> Program {
    for (unsigned gate = 0; gate < gates; ++gate) {
      std::optional<Source> source;
      const Route way = route(machine, cpu.cell(), {{x_right, 1}});
      co_await cpu.open(way, source);
      cpu.bind_out(gate, source->own);
    }
  };
  machine.cell(0).run([&](Processor& cpu) -> Program {
    co_await open_two(cpu);
    for (Data i = 0; i < times; ++i)
      co_await cpu.operate(0, 0b11, [i](const Words&) { return Words{Word{i}, Word{1000 * i}}; });
  });
  machine.cell(1).run([&](Processor& cpu) -> Program {
    co_await open_two(cpu);
    for (unsigned gate = 0; gate < gates; ++gate) cpu.bind_in(gate, co_await cpu.accept(0));
    co_await cpu.cycles(100);  // queues are full
    begun = machine.now();
    for (unsigned i = 0; i < times; ++i) {
      co_await cpu.operate(0b11, 0b11, [](const Words& in) {
        return Words{Word{in[0].data + in[1].data}, in[1]};
      });
      if (i + 1 == 8) full_speed = machine.now() - begun;
    }
    ended = machine.now();
  });
  machine.cell(2).run([&](Processor& cpu) -> Program {
    for (unsigned gate = 0; gate < gates; ++gate) cpu.bind_in(gate, co_await cpu.accept(1));
    co_await cpu.cycles(400);
    for (unsigned i = 0; i < times; ++i) {
      co_await cpu.operate(0b11, 0, [&](const Words& in) {
        sums.push_back(in[0].data);
        return in;
      });
    }
  });
  machine.run_to_end();
  EXPECT_EQ(full_speed, 8u * 2) << "while its queues have them: 16 bytes in 100 ns";
  ASSERT_EQ(sums.size(), times);
  for (Data i = 0; i < times; ++i) ASSERT_EQ(sums[i], 1001 * i);
  EXPECT_GT(machine.cell(1).stalled(), 100u) << "on full queues, and as two streams share each bus";
  EXPECT_NEAR(static_cast<double>(ended - begun), 4 * times, 300);
}

/// IW-38 [P]: the five events that the paper lists; a handler runs in the midst of a computation, or while it is stalled; markers may be
/// watched channel by channel. IW-1: the communication agent goes on meanwhile.
TEST(IwarpProcessor, IsToldOfTheEventsThatItHasAskedFor) {
  Machine machine(grid_wiring(kit::Grid({{3}})));
  std::string told;
  const auto send = [&](CellNumber from, Direction to) {
    machine.cell(from).run([&, to](Processor& cpu) -> Program {
      std::optional<Source> source;
      const Route way = route(machine, cpu.cell(), {{to, 1}});
      co_await cpu.open(way, source);
      cpu.bind_out(0, source->own);
      co_await cpu.cycles(40);
      co_await cpu.begin_message(*source, 1);
      co_await cpu.write(0, {7, Tag::application});
      co_await cpu.end_message(*source);
      co_await cpu.close(*source);
    });
  };
  send(0, x_right);
  send(2, x_left);
  Processor& cpu = machine.cell(1);
  CommunicationAgent& agent = machine.network().agent(1);
  Channel left = no_channel;
  for (Channel channel = 0; channel < most_channels && left == no_channel; ++channel) {
    if (agent.input(channel).bus == x_left) left = channel;
  }
  agent.watch(Event::pathway_end, ~kit::Requests{0});
  for (const Event event : {Event::message_begin, Event::message_end, Event::application})
    agent.watch(event, kit::request(left));
  const auto on = [&](Event event, char name, bool takes) {
    cpu.on(event, [&, name, takes](Processor& here, Channel channel) -> Program {
      told += name;
      co_await here.cycles(3);
      if (takes) {
        here.bind_in(0, channel);
        co_await here.read(0);
      }
      told += ')';
    });
  };
  on(Event::pathway_begin, 'P', false);
  on(Event::message_begin, 'm', true);
  on(Event::application, 'a', true);
  on(Event::message_end, 'e', true);
  on(Event::pathway_end, 'Q', false);
  cpu.run([&](Processor& here) -> Program {
    co_await here.cycles(1000);
    told += '.';
    co_await here.wait_for(Event::lost);
  });
  run(machine, 1200);
  EXPECT_EQ(told, "P)P)m)a)e)Q).") << "of the other channel, only that its pathway has come";
  EXPECT_EQ(cpu.spent().dispatching, 6u * (costs::dispatch + costs::handler_return));
  EXPECT_THAT(machine.who_waits(), HasSubstr("cell 1: its program waits for an event"));
  // Nobody takes the message of the other one.
  EXPECT_THROW(machine.run_to_end(), std::runtime_error);
}

/// Wrong programs end with a word about it.
TEST(IwarpProcessor, RefusesGatesThatAreNotBoundAndChannelsThatAreNotThere) {
  Machine machine(grid_wiring(kit::Grid({{2}})));
  const auto reads = [](Processor& cpu) -> Program { co_await cpu.read(1); };
  EXPECT_THROW(machine.cell(1).run(reads), std::logic_error);
  machine.cell(0).run([&](Processor& cpu) -> Program {
    Source source;
    for (int i = 0; i < 3; ++i) co_await cpu.open_next(x_right, source);
  });
  EXPECT_THROW(run(machine, 100), std::runtime_error) << "two are of the reservation pool";
}

/// C-3: programs that wait for each other with nothing under way: the circle is named. So is one of pathways.
TEST(IwarpProcessor, WaitsInACircleAreNamed) {
  const auto error = [](Machine& machine) -> std::string {
    try {
      machine.run_or_throw([&] { return machine.have_ended(); }, 1000);
    } catch (const std::runtime_error& thrown) {
      return thrown.what();
    }
    return "";
  };
  for (const bool extends : {false, true}) {
    Machine both(grid_wiring(kit::Grid({{2}})));
    for (const CellNumber cell : {0u, 1u}) {
      both.cell(cell).run([cell, extends](Processor& cpu) -> Program {
        Source source;
        co_await cpu.open_next(cell == 0 ? x_right : x_left, source);
        cpu.bind_in(0, co_await cpu.accept(1 - cell));
        if (extends) co_await cpu.extend(0, {0, 100});
        co_await cpu.read(0);
      });
    }
    const std::string reads = error(both);
    EXPECT_THAT(reads, HasSubstr("a circle: "));
    EXPECT_THAT(reads, HasSubstr("-> cell 0 ->"));
    EXPECT_THAT(reads, HasSubstr("-> cell 1 "));
  }

  // Three pathways around a ring, each of which needs a channel of the next one's first bus.
  Machine ring(grid_wiring(kit::Grid({{3, true}})), Share{.reservation = 1, .open = 0, .open_over_edge = 0});
  for (const CellNumber cell : {0u, 1u, 2u}) {
    ring.cell(cell).run([&, cell](Processor& cpu) -> Program {
      std::optional<Source> source;
      const Route way = route(ring, cell, {{x_right, 2}});
      co_await cpu.open(way, source);
      co_await cpu.accept((cell + 1) % 3);
    });
  }
  EXPECT_THAT(error(ring), HasSubstr("waits for a channel"));
  EXPECT_THAT(error(ring), HasSubstr("a circle: "));
}

}  // namespace am::iwarp::processor_test
