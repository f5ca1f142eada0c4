#include "emulated_hw/mmachine/programs/ping.hpp"

#include <stdexcept>

#include "emulated_hw/mmachine/programs/pointer_to.hpp"

namespace am::mmachine {

namespace {

constexpr std::uint64_t ping_address = 0x100;
constexpr std::uint64_t pong_address = 0x200;

}  // namespace

PingTimes ping(const Mesh::Shape& shape, NodeNumber from, NodeNumber to) {
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

}  // namespace am::mmachine
