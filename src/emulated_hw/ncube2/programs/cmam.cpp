#include "emulated_hw/ncube2/programs/cmam.hpp"

#include <stdexcept>
#include <string>

namespace am::ncube2 {

namespace {

/// Writes them from there on.
Program compose(Processor& cpu, Word at, Word handler, Cmam::Arguments arguments) {
  co_await cpu.store(at, handler);
  for (const Word argument : arguments) co_await cpu.store(++at, argument);
}

}  // namespace

Cmam::Cmam(Machine& machine, unsigned buffers, Word most_words) : turns_(machine.nodes()) {
  for (NodeNumber node = 0; node < machine.nodes(); ++node) {
    Kernel& kernel = kernels_.emplace_back(
        machine.node(node),
        Kernel::Setting{.nodes = machine.nodes(), .buffers = buffers, .most_words = most_words});
    kernel.when_received(
        [this](Processor& cpu, Kernel::Received& received) { return dispatch(cpu, received); });
  }
}

/// Two buffers for each engine, in turns: when a send has been set up, the one before it has gone.
Program Cmam::request(Processor& cpu, NodeNumber to, Word handler, Arguments arguments) {
  if (to >= turns_.size() || to == cpu.node())
    throw std::out_of_range("ncube2: node " + std::to_string(cpu.node()) + " sends to node " +
                            std::to_string(to));
  const unsigned dimension = first_dimension(cpu.node(), {.node = to});
  std::uint16_t& turns = turns_[cpu.node()];
  turns ^= static_cast<std::uint16_t>(1u << dimension);
  const Word at = (2 * dimension + (turns >> dimension & 1u)) * message_words;
  co_await cpu.cycles(costs::find_send_buffer);
  co_await send(cpu, {.to = to, .at = at, .words = message_words}, handler, arguments);
}

Program Cmam::send(Processor& cpu, Kernel::Message message, Word handler, Arguments arguments) {
  co_await compose(cpu, message.at + header_words, handler, arguments);
  Sent sent{};
  co_await kernels_[cpu.node()].send(message, WhenBusy::suspend, sent);
  if (sent == Sent::refused) throw std::invalid_argument("ncube2: the kernel refuses a message");
}

Program Cmam::reply(Processor& cpu, Incoming& request, Word handler, Arguments arguments) {
  co_await compose(cpu, request.received.at, handler, arguments);
  co_await kernels_[cpu.node()].reply(request.received, request.from, message_words);
}

Program Cmam::dispatch(Processor& cpu, Kernel::Received& received) {
  Incoming incoming{.from = received.from, .arguments = {}, .received = received};
  const Word handler = co_await cpu.load(received.at);
  for (Word i = 0; i < incoming.arguments.size(); ++i)
    incoming.arguments[i] = co_await cpu.load(received.at + 1 + i);
  co_await cpu.cycles(costs::jump);
  co_await handlers_.at(handler)(cpu, incoming);
}

}  // namespace am::ncube2
