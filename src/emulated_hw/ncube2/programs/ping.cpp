#include "emulated_hw/ncube2/programs/ping.hpp"

#include "emulated_hw/ncube2/programs/cmam.hpp"

namespace am::ncube2 {

PingTimes ping(unsigned dimensions, NodeNumber from, NodeNumber to, kit::Trace* trace) {
  Machine machine(dimensions, 512);
  machine.record(trace);
  Cmam cmam(machine, 2 * dimensions);
  PingTimes times;
  const Word pong = cmam.place([&](Processor&, Cmam::Incoming&) -> Program {
    times.answered = machine.now() + 1;
    co_return;
  });
  const Word ping = cmam.place([&](Processor& cpu, Cmam::Incoming& in) -> Program {
    times.handled = machine.now() + 1;
    co_await cmam.reply(cpu, in, pong, in.arguments);
  });
  machine.node(from).run([&](Processor& cpu) -> Program {
    co_await cmam.send(cpu, to, ping, {1, 2, 3, 4});
    times.sent = machine.now() + 1;
  });
  machine.run_or_throw(
      [&] { return times.answered != 0 && machine.node(from).is_idle() && machine.node(to).is_idle(); });
  if (trace != nullptr) trace->ends(machine.now());
  return times;
}

}  // namespace am::ncube2
