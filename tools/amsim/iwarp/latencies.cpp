#include "amsim/iwarp/latencies.hpp"

#include <map>
#include <optional>
#include <utility>

namespace amsim::iwarp {

namespace {

using namespace am::iwarp;
using am::kit::Grid;
using am::kit::Trace;
using enum Direction;

constexpr unsigned settled = 100;  // cycles after which pathways to the next cells are there

const Input& input_of(Machine& machine, CellNumber cell, Channel channel) {
  return machine.network().agent(cell).input(channel);
}
const Output& output_of(Machine& machine, CellNumber cell, Channel channel) {
  return machine.network().agent(cell).output(channel);
}

// When the first word in a queue of a bus came, if one has that tag.
std::optional<Cycle> arrival(Machine& machine, CellNumber cell, Tag tag) {
  for (Channel channel = 0; channel < most_channels; ++channel) {
    const Input& input = input_of(machine, cell, channel);
    if (input.bus && !input.queue.empty() && input.queue.front().word.tag == tag)
      return input.queue.front().came;
  }
  return {};
}

// What has passed since the cycle before, in the network of one pathway.
class Watch {
 public:
  Watch(Machine& machine, Trace& trace, std::uint32_t message)
      : machine_(machine), trace_(trace), message_(message) {}

  void gates(CellNumber from, const Source& source) {
    const std::uint64_t all =
        input_of(machine_, from, source.own).queue.size() + output_of(machine_, from, source.output).carried;
    if (std::exchange(injected_, all) != all)
      trace_.passes(message_, from, Trace::injection, machine_.now() - 1, 1);
  }
  void busses() {
    for (CellNumber cell = 0; cell < machine_.cells(); ++cell) {
      for (std::size_t i = 0; i < machine_.network().agent(cell).outputs(); ++i) {
        const auto channel = static_cast<Channel>(i);
        const Output& output = output_of(machine_, cell, channel);
        if (std::exchange(carried_[{cell, channel}], output.carried) != output.carried)
          trace_.passes(message_, cell, grid_port(output.bus), machine_.now() - 1, costs::bus);
      }
    }
  }

 private:
  Machine& machine_;
  Trace& trace_;
  const std::uint32_t message_;
  std::uint64_t injected_ = 0;
  std::map<std::pair<CellNumber, Channel>, std::uint64_t> carried_;
};

}  // namespace

SourceTimes source_times() {
  Machine machine(grid_wiring(Grid({{3}, {3}})), {}, 1);
  const am::kit::Wiring& wiring = machine.network().wiring();
  SourceTimes times;
  machine.cell(0).run([&](Processor& cpu) -> Program {
    Cycle began = 0;
    const auto lap = [&] { return cpu.spent().all - std::exchange(began, cpu.spent().all); };
    std::optional<Source> source = co_await cpu.request(x_right, Pool::reservation);
    times.request = lap();
    const Route up = along(wiring, 0, std::vector<Leg>{{y_up, 1}});
    co_await cpu.open(up, source);
    times.begin = lap() - times.request;
    co_await cpu.begin_message(*source, 0);
    times.message_begin = lap();
    co_await cpu.end_message(*source);
    times.message_end = lap();
    co_await cpu.close(*source);
    times.end = lap();
    const Route corner = along(wiring, 0, std::vector<Leg>{{x_right, 1}, {y_up, 1}});
    co_await cpu.open(corner, source);
    times.address = lap() - times.request - times.begin;
  });
  machine.run_to_end();
  return times;
}

SetUp set_up(const Grid& grid, std::span<const Leg> legs) {
  Machine machine(grid_wiring(grid), {}, 1);
  const Route route = along(machine.network().wiring(), 0, legs);
  SetUp times;
  machine.cell(0).run([&](Processor& cpu) -> Program {
    std::optional<Source> source;
    co_await cpu.open(route, source);
    times.free = machine.now() + 1;
  });
  std::optional<Cycle> there;
  machine.run_or_throw([&] {
    if (!there) there = arrival(machine, route.destination(), Tag::pathway_begin);
    return there.has_value() && times.free != 0;
  });
  times.there = *there;
  return times;
}

Cycle join() {
  Machine machine(grid_wiring(Grid({{3}})), {}, 1);
  Source source;
  Cycle joined = 0;
  machine.cell(0).run([&](Processor& cpu) -> Program {
    Source into;
    co_await cpu.open_next(x_right, into);
    cpu.bind_out(0, into.own);
    co_await cpu.write(0, {1});
  });
  machine.cell(1).run([&](Processor& cpu) -> Program {
    co_await cpu.open_next(x_right, source);
    const Channel channel = co_await cpu.accept(0);
    co_await cpu.cycles(settled);
    joined = machine.now() + 1;
    co_await cpu.redirect(channel, source);
  });
  constexpr unsigned behind_its_begin = 2;
  machine.run_or_throw(
      [&] { return joined != 0 && output_of(machine, 1, source.output).carried == behind_its_begin; });
  return machine.now() - 1 - joined;
}

Cycle header_through_joint() {
  Machine machine(grid_wiring(Grid({{3}})), {}, 1);
  machine.cell(0).run([&](Processor& cpu) -> Program {
    Source into;
    co_await cpu.open_next(x_right, into);
    co_await cpu.cycles(settled);
    co_await cpu.begin_message(into, Sign{.cell = 2}.data());
  });
  machine.cell(1).run([&](Processor& cpu) -> Program {
    Source onward;
    co_await cpu.open_next(x_right, onward);
    const Channel channel = co_await cpu.accept(0);
    co_await cpu.link(channel, onward);
  });
  std::optional<Cycle> here, there;
  machine.run_or_throw([&] {
    if (!here) here = arrival(machine, 1, Tag::message_begin);
    there = arrival(machine, 2, Tag::message_begin);
    return there.has_value();
  });
  return *there - here.value();
}

void trace_pathway(const Grid& grid, CellNumber to, unsigned words, Trace& trace) {
  Machine machine(grid_wiring(grid), {}, 1);
  for (CellNumber cell = 0; cell < machine.cells(); ++cell) machine.cell(cell).record(&trace);
  const Route route = along(machine.network().wiring(), 0, on_grid(grid, 0, to, Pool::reservation));
  const std::uint32_t message = trace.begins(0, to, 0);
  std::optional<Source> source;
  machine.cell(0).run([&](Processor& cpu) -> Program {
    co_await cpu.open(route, source);
    cpu.bind_out(0, source->own);
    for (Data i = 0; i < words; ++i) co_await cpu.write(0, {i});
    co_await cpu.close(*source);
  });
  machine.cell(to).run([&](Processor& cpu) -> Program {
    cpu.bind_in(0, co_await cpu.accept(0));
    for (unsigned i = 0; i <= words; ++i) {
      co_await cpu.read(0);
      trace.passes(message, to, 0, machine.now(), 1);
    }
    trace.comes(message, to, machine.now());
  });
  Watch watch(machine, trace, message);
  machine.run_or_throw([&] {
    if (source) watch.gates(0, *source);
    watch.busses();
    return machine.have_ended();
  });
  trace.ends(machine.now());
}

}  // namespace amsim::iwarp
