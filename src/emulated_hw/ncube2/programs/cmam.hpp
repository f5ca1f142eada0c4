// Active Messages on an nCUBE/2: a handler's number and four words to any node, where the kernel's interrupt runs the handler (von Eicken
// 1993, 3.1.4).
//
//   Cmam cmam(machine, 8);
//   const Word pong = cmam.place([&](Processor& cpu, Cmam::Incoming& in) -> Program { ... });
//   co_await cmam.request(cpu, 5, ping, {1, 2, 3, 4});         // from a computation
//   co_await cmam.reply(cpu, in, pong, {1, 2, 3, 4});          // from a handler: once
//
// A send composes its message in memory and traps; while its engine is busy its program is suspended, and handlers run. A reply goes from
// the buffer in which its request came, so it asks for none. But buffers that replies wait in take no messages: a node needs as many as it
// may have messages under way to it and replies of it, else nodes may wait for each other in a circle.
//
// Assumed: handlers run in the kernel, without interrupts; the code. The chapter prints no cost of an active message.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "emulated_hw/ncube2/kernel.hpp"
#include "emulated_hw/ncube2/machine.hpp"

namespace am::ncube2 {

class Cmam {
 public:
  using Arguments = std::array<Word, 4>;
  static constexpr Word message_words = header_words + 1 + 4;
  /// A message, in its handler.
  struct Incoming {
    NodeNumber from;
    Arguments arguments;
    Kernel::Received& received;
  };
  using Handler = std::function<Program(Processor&, Incoming&)>;

  /// On all nodes, with so many buffers each, for messages of so many words. The machine outlives it.
  Cmam(Machine& machine, unsigned buffers, Word most_words = message_words);
  Cmam(const Cmam&) = delete;
  Cmam& operator=(const Cmam&) = delete;

  /// On all nodes: its number. It lives as long as this.
  Word place(Handler handler) {
    handlers_.push_back(std::move(handler));
    return static_cast<Word>(handlers_.size() - 1);
  }
  /// Throws std::out_of_range where there is no such node, or it is the sender.
  Program request(Processor& cpu, NodeNumber to, Word handler, Arguments arguments);
  /// With a block of `arguments[0]` words behind the message: `at` is where the message is made, in front of the block.
  Program send_block(Processor& cpu, NodeNumber to, Word at, Word handler, Arguments arguments) {
    return send(cpu, {.to = to, .at = at, .words = message_words + arguments[0]}, handler, arguments);
  }
  Program reply(Processor& cpu, Incoming& request, Word handler, Arguments arguments);

 private:
  Program send(Processor& cpu, Kernel::Message message, Word handler, Arguments arguments);
  Program dispatch(Processor& cpu, Kernel::Received& received);

  std::deque<Kernel> kernels_;  // by node
  std::vector<Handler> handlers_;
  std::vector<std::uint16_t> turns_;  // by node, a bit for each dimension: which of two buffers is the next
};

/// What its code takes, its accesses to memory not included. Assumed.
namespace costs {
inline constexpr unsigned find_send_buffer = 2 * bitwise + first_bit;
inline constexpr unsigned dispatch = 5 * load + jump;
}  // namespace costs

}  // namespace am::ncube2
