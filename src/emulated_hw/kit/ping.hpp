// An active message there and one back, between two nodes of a machine under the clock that do nothing else.
#pragma once

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/program.hpp"
#include "emulated_hw/kit/trace.hpp"

namespace am::kit {

/// Cycles of the network from the beginning.
struct PingTimes {
  Cycle sent = 0;      ///< the send has returned
  Cycle handled = 0;   ///< the handler's first instruction is next
  Cycle answered = 0;  ///< the same of the answer's
};

/// `Cmam` has place() and request(), and where nodes poll, poll(). reply(cpu, incoming, handler) answers. `trace`: if there is one, has all of it.
template <class Machine, class Cmam, class Reply>
[[nodiscard]] PingTimes ping(Machine& machine, Cmam& cmam, NodeNumber from, NodeNumber to, Trace* trace,
                             Reply reply) {
  if (trace != nullptr) machine.record(trace);
  PingTimes times;
  const auto poll_until = [&cmam](auto& cpu, const Cycle& time) -> Program {
    if constexpr (requires { cmam.poll(cpu); }) {
      while (time == 0) co_await cmam.poll(cpu);
    }
    co_return;
  };
  const auto pong = cmam.place([&](auto&, auto&) -> Program {
    times.answered = machine.now() + 1;
    co_return;
  });
  const auto ping = cmam.place([&](auto& cpu, auto& incoming) -> Program {
    times.handled = machine.now() + 1;
    co_await reply(cpu, incoming, pong);
  });
  machine.node(from).run([&](auto& cpu) -> Program {
    co_await cmam.request(cpu, to, ping, {from, 2, 3, 4});
    times.sent = machine.now() + 1;
    co_await poll_until(cpu, times.answered);
  });
  machine.node(to).run([&](auto& cpu) { return poll_until(cpu, times.handled); });
  machine.run_or_throw(
      [&] { return times.answered != 0 && machine.node(from).is_idle() && machine.node(to).is_idle(); });
  if (trace != nullptr) trace->ends(machine.now());
  return times;
}

}  // namespace am::kit
