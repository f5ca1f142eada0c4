#include "amsim/t1/experiments.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "emulated_hw/t1/programs/sending.hpp"

namespace amsim::t1 {

namespace {

constexpr Address ping = 0x7000;
constexpr Address pong = 0x7100;

Send with_priority(Send what, Priority priority, bool multicast = false) {
  what.priority = priority;
  what.multicast = multicast;
  return what;
}

// Of one processor whose network is never there.
void enable_events(Processor& cpu) {
  cpu.ni().ctc2(Register::enable, 1);
  cpu.ni().ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm);
}

Cycle cycles_of(const Processor::Code& program) {
  Processor cpu(0);
  enable_events(cpu);
  cpu.run(program);
  while (!cpu.has_ended()) cpu.step();
  return cpu.spent().all;
}

}  // namespace

// -- on a processor ---------------------------------------------------------------------------------------------------

MessageCosts message_costs(const Send& what) {
  Processor from(0), to(1);
  from.run(
      [&](Processor& cpu) -> Program { co_await cpu.send(with_priority(what, Priority::low), 1, ping); });
  while (!from.has_ended()) from.step();
  enable_events(to);
  MessageCosts costs{.send = from.spent().all};
  to.place(ping, [&](Processor& cpu) -> Program {
    costs.dispatch = cpu.spent().all;
    co_await cpu.cycles(1);
  });
  to.ni().deliver(from.ni().outgoing(Priority::low).value());
  while (to.spent().handling == 0 || !to.ni().cfc2(Register::enable) ||
         (to.ni().cfc2(Register::nistat) & nistat::lpee) == 0)
    to.step();
  costs.hret = to.spent().dispatching - costs.dispatch;
  return costs;
}

Cycle failed_send_cost(const Send& what) {
  return cycles_of([&](Processor& cpu) -> Program {
           co_await cpu.send(what, 1, ping);
           if (co_await cpu.send(what, 1, ping))
             throw std::logic_error("t1: a message was accepted behind another");
         }) -
         cycles_of([&](Processor& cpu) -> Program { co_await cpu.send(what, 1, ping); });
}

Cycle critical_section_cost() {
  return cycles_of([](Processor& cpu) -> Program {
    co_await cpu.enter_critical();
    co_await cpu.exit_critical();
  });
}

Cycle poll_cost() {
  return cycles_of([](Processor& cpu) -> Program { co_await cpu.poll(); });
}

// -- over the network -------------------------------------------------------------------------------------------------

unsigned flits_of(const Send& what) noexcept {
  return Message{.scalars = static_cast<std::uint8_t>(what.scalars),
                 .vector = static_cast<std::uint8_t>(what.vector ? most_vector : 0)}
      .flits();
}

std::vector<NodeNumber> one_at_each_distance(const Mesh::Shape& shape) {
  const am::kit::Grid grid = grid_of(shape);
  std::vector<NodeNumber> nodes;
  for (NodeNumber node = 1; node < grid.nodes(); ++node) {
    const unsigned hops = am::kit::distance(grid, 0, node);
    if (nodes.size() < hops) nodes.resize(hops);
    nodes[hops - 1] = node;
  }
  return nodes;
}

namespace {

/// Code that notes when it begins.
Processor::Code noting(const Machine& machine, Cycle& when) {
  return [&](Processor& cpu) -> Program {
    when = machine.now();
    co_await cpu.cycles(1);
  };
}

}  // namespace

Cycle one_way(const Mesh::Shape& shape, NodeNumber to, const Send& what) {
  Machine machine(shape);
  Cycle ended = 0;
  machine.node(to).place(ping, noting(machine, ended));
  machine.node(0).run([&](Processor& cpu) -> Program { co_await send_until_accepted(cpu, what, to, ping); });
  machine.run_or_throw([&] { return ended != 0; });
  return ended;
}

Cycle round_trip(const Mesh::Shape& shape, NodeNumber to, const Send& what) {
  Machine machine(shape);
  Cycle ended = 0;
  machine.node(to).place(ping, [&](Processor& cpu) -> Program {
    co_await send_until_accepted(cpu, with_priority(what, Priority::high), 0, pong);
  });
  machine.node(0).place(pong, noting(machine, ended));
  machine.node(0).run([&](Processor& cpu) -> Program {
    co_await send_until_accepted(cpu, with_priority(what, Priority::low), to, ping);
  });
  machine.run_or_throw([&] { return ended != 0; });
  return ended;
}

Cycle round_trip_parts(unsigned hops, const Send& what) noexcept {
  return 2 * (costs::send + in_network(hops, flits_of(what)) + costs::dispatch);
}

Flood flood(const Mesh::Shape& shape, NodeNumber to, const Send& what) {
  constexpr std::size_t messages = 400;
  Machine machine(shape);
  std::vector<Cycle> came;
  machine.node(to).place(ping, [&](Processor& cpu) -> Program {
    came.push_back(machine.now());
    co_await cpu.cycles(0);
  });
  machine.node(0).run([&](Processor& cpu) -> Program {
    for (std::size_t i = 0; i < messages; ++i) co_await send_until_accepted(cpu, what, to, ping);
  });
  machine.run_or_throw([&] { return came.size() == messages; });
  // The first ones fill the rooms on the way, the last ones find them emptied.
  const std::size_t first = messages / 4, last = messages - messages / 4;
  const double cycles = static_cast<double>(came[last] - came[first]) / static_cast<double>(last - first);
  return {.cycles_per_message = cycles, .flits_per_cycle = flits_of(what) / cycles};
}

// -- to many ----------------------------------------------------------------------------------------------------------

namespace {

/// Nodes that note when a handler began.
struct Receivers {
  explicit Receivers(const Mesh::Shape& shape) : machine(shape) {}

  void note() {
    last = machine.now();
    ++came;
  }
  /// Handlers that do nothing else.
  void place(Address at) {
    machine.place(at, [this](Processor& cpu) -> Program {
      note();
      co_await cpu.cycles(1);
    });
  }
  Distribution until(std::uint64_t receivers) {
    machine.run_or_throw([&] { return came >= receivers && machine.mesh().under_way() == 0; });
    Distribution result{.took = last, .receivers = came};
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      for (unsigned port = 1; port < ports; ++port) result.flits += machine.mesh().counts(node, port).flits;
    }
    return result;
  }

  Machine machine;
  Cycle last = 0;
  std::uint64_t came = 0;
};

void check(const Mesh::Shape& shape, const Patch& patch) {
  if (patch.rows == 0 || patch.columns == 0 || patch.rows > shape.rows || patch.columns > shape.columns)
    throw std::invalid_argument("t1: a patch of " + std::to_string(patch.rows) + " rows and " +
                                std::to_string(patch.columns) + " columns on a mesh of " +
                                std::to_string(shape.rows) + " and " + std::to_string(shape.columns));
  if (shape.wraps && patch.columns > shape.columns / 2 + 1 && patch.columns != shape.columns)
    throw std::invalid_argument("t1: a patch of a row that wraps has up to half of its nodes, or all");
}

}  // namespace

Distribution send_to_each(const Mesh::Shape& shape, const Patch& patch, const Send& what) {
  check(shape, patch);
  Receivers receivers(shape);
  receivers.place(ping);
  std::vector<NodeNumber> nodes;
  for (unsigned row = 0; row < patch.rows; ++row) {
    for (unsigned column = 0; column < patch.columns; ++column) nodes.push_back(row * shape.columns + column);
  }
  const auto hops = [grid = grid_of(shape)](NodeNumber node) { return am::kit::distance(grid, 0, node); };
  std::ranges::stable_sort(nodes, std::ranges::greater(), hops);
  nodes.pop_back();  // node 0
  receivers.machine.node(0).run([&](Processor& cpu) -> Program {
    for (const NodeNumber node : nodes)
      co_await send_until_accepted(cpu, with_priority(what, Priority::low), node, ping);
  });
  return receivers.until(nodes.size());
}

Distribution multicast(const Mesh::Shape& shape, const Patch& patch, const Send& what) {
  check(shape, patch);
  Receivers receivers(shape);
  receivers.place(pong);
  const Send along_row = with_priority(what, Priority::high, true);
  receivers.machine.place(ping, [&](Processor& cpu) -> Program {
    receivers.note();
    co_await multicast_along_row(cpu, shape, patch.columns, along_row, pong);
  });
  receivers.machine.node(0).run([&](Processor& cpu) -> Program {
    if (patch.rows > 1)
      co_await send_until_accepted(cpu, with_priority(what, Priority::low, true),
                                   (patch.rows - 1) * shape.columns, ping);
    co_await multicast_along_row(cpu, shape, patch.columns, along_row, pong);
  });
  return receivers.until(std::uint64_t{patch.rows} * patch.columns - 1);
}

Distribution multicast_round(const Mesh::Shape& shape, const Send& what) {
  if (!shape.wraps || shape.columns < 2)
    throw std::invalid_argument("t1: a row that does not wrap is no ring");
  Receivers receivers(shape);
  receivers.place(ping);
  receivers.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await send_until_accepted(cpu, with_priority(what, Priority::low, true), 0, ping);
  });
  return receivers.until(shape.columns);
}

}  // namespace amsim::t1
