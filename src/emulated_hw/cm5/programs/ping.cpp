#include "emulated_hw/cm5/programs/ping.hpp"

#include "emulated_hw/cm5/programs/cmam.hpp"

namespace am::cm5 {

PingTimes ping(NodeNumber nodes, NodeNumber from, NodeNumber to, kit::Trace* trace) {
  Machine machine(nodes, 0);
  Cmam cmam;
  return kit::ping(machine, cmam, from, to, trace, [&](Processor& cpu, Cmam::Incoming& in, Word pong) {
    return cmam.reply(cpu, in.arguments[0], pong, in.arguments);
  });
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

}  // namespace am::cm5
