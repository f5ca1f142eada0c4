// An active message there and one back, between two nodes of an nCUBE/2 that do nothing else.
#pragma once

#include "emulated_hw/kit/ping.hpp"
#include "emulated_hw/ncube2/programs/cmam.hpp"

namespace am::ncube2 {

using kit::PingTimes;
/// `trace`: of a machine of so many dimensions, has all of it.
[[nodiscard]] inline PingTimes ping(unsigned dimensions, NodeNumber from, NodeNumber to,
                                    kit::Trace* trace = nullptr) {
  Machine machine(dimensions, 512);
  Cmam cmam(machine, 2 * dimensions);
  return kit::ping(machine, cmam, from, to, trace, [&](Processor& cpu, Cmam::Incoming& in, Word pong) {
    return cmam.reply(cpu, in, pong, in.arguments);
  });
}

}  // namespace am::ncube2
