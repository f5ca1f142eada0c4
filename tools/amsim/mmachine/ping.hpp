// An empty message there and an empty answer back, between two nodes of an M-Machine that do nothing else. What Table 6.4 calls PING also makes
// the first and stores the answer: tools/amsim/papers/chapter_6/on_machine.cpp.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 1.3, 3.1, 7.2.2.
#pragma once

#include <stdexcept>

#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace amsim::mmachine {

using namespace am::mmachine;
using am::mmachine::Machine;  // not that of reports

/// Cycles from the beginning.
struct PingTimes {
  Cycle sent = 0;  ///< SEND has issued
  Cycle came = 0;  ///< MsgHead is there
  Cycle handled =
      0;  ///< dispatched: the handler's first instruction is next, and a word that it stores with it is there
  Cycle answered = 0;  ///< the same of the answer
};
[[nodiscard]] inline PingTimes ping(const Mesh::Shape& shape, NodeNumber from, NodeNumber to) {
  constexpr std::uint64_t ping_address = 0x100;
  constexpr std::uint64_t pong_address = 0x200;
  Machine machine(shape);
  PingTimes times;
  machine.place(ping_address, [&](Thread& thread) -> Program {
    times.handled = machine.now() + 1;
    times.came = times.handled - jump_cycles;
    co_await thread.msg_body();
    const Word sender = co_await thread.msg_body();
    co_await thread.send({.instruction = Send::isnd1pnt,
                          .destination = sender,
                          .handler = pointer_to(PointerType::execute_message, pong_address)});
  });
  machine.place(pong_address, [&](Thread&) -> Program {
    times.answered = machine.now() + 1;
    co_return;
  });
  machine.chip(from).thread(0, 0).run(
      [&](Thread& thread) -> Program {
        co_await thread.send({.instruction = Send::isnd0pnt,
                              .destination = {nid_of(machine.mesh().place_of(to)), false},
                              .handler = pointer_to(PointerType::execute_message, ping_address)});
        times.sent = machine.now() + 1;
      },
      Privilege::system);
  if (!machine.run_until([&] { return times.answered != 0; })) throw std::runtime_error("ping: no answer");
  return times;
}

}  // namespace amsim::mmachine
