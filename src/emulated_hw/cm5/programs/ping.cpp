#include "emulated_hw/cm5/programs/ping.hpp"

#include <algorithm>
#include <array>

#include "emulated_hw/cm5/programs/cmam.hpp"

namespace am::cm5 {

PingTimes ping(NodeNumber nodes, NodeNumber from, NodeNumber to, kit::Trace* trace) {
  Machine machine(nodes, 0);
  if (trace != nullptr) machine.record(trace);
  Cmam cmam;
  PingTimes times;
  const Word pong = cmam.place([&](Processor&, Cmam::Incoming&) -> Program {
    times.answered = machine.now() + 1;
    co_return;
  });
  const Word ping = cmam.place([&](Processor& cpu, Cmam::Incoming& in) -> Program {
    times.handled = machine.now() + 1;
    co_await cmam.reply(cpu, in.arguments[0], pong, in.arguments);
  });
  machine.node(from).run([&](Processor& cpu) -> Program {
    co_await cmam.request(cpu, to, ping, {from, 2, 3, 4});
    times.sent = machine.now() + 1;
    while (times.answered == 0) co_await cmam.poll(cpu);
  });
  machine.node(to).run([&](Processor& cpu) -> Program {
    while (times.handled == 0) co_await cmam.poll(cpu);
  });
  machine.run_or_throw([&] { return machine.node(from).has_ended() && machine.node(to).has_ended(); });
  if (trace != nullptr) trace->ends(machine.now());
  return times;
}

MessageCosts message_costs() {
  Machine machine(2, 0);
  Cmam cmam;
  MessageCosts costs;
  const Word nothing = cmam.place([](Processor&, Cmam::Incoming&) -> Program { co_return; });
  machine.node(0).run([&](Processor& cpu) -> Program {
    Cycle began = cpu.spent().all;
    const auto lap = [&] {
      const auto took = static_cast<unsigned>(cpu.spent().all - began);
      began += took;
      return took;
    };
    co_await cmam.poll(cpu);
    costs.empty_poll = lap();
    co_await cmam.request(cpu, 0, nothing, {});
    costs.send = lap();
    co_await cpu.cycles(100);
    lap();
    co_await cmam.poll(cpu);
    costs.poll = lap();
    // Node 1 takes nothing for a while: then its way is full.
    while (cmam.refused() == 0) {
      lap();
      co_await cmam.request(cpu, 1, nothing, {});
    }
    costs.refused = (lap() - costs.send) / static_cast<unsigned>(cmam.refused());
  });
  machine.node(1).run([&](Processor& cpu) -> Program {
    co_await cpu.cycles(20'000);
    while (!machine.node(0).has_ended()) co_await cmam.poll(cpu);
  });
  machine.run_or_throw([&] { return machine.node(0).has_ended(); }, 100'000);
  return costs;
}

Cycle swap(NodeNumber nodes, NodeNumber one, NodeNumber other) {
  Machine machine(nodes, 0);
  Cmam cmam;
  std::array<Cycle, 2> ended{};
  std::array<bool, 2> has{};
  const Word handler = cmam.place([&](Processor& cpu, Cmam::Incoming&) -> Program {
    has[cpu.node() == one ? 0 : 1] = true;
    co_return;
  });
  const auto run = [&](unsigned number, NodeNumber here, NodeNumber there) {
    machine.node(here).run([&, number, there](Processor& cpu) -> Program {
      co_await cmam.request(cpu, there, handler, {1, 2, 3, 4});
      while (!has[number]) co_await cmam.poll(cpu);
      ended[number] = machine.now() + 1;
    });
  };
  run(0, one, other);
  run(1, other, one);
  machine.run_or_throw([&] { return ended[0] != 0 && ended[1] != 0; });
  return std::max(ended[0], ended[1]);
}

}  // namespace am::cm5
