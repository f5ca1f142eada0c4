#include "emulated_hw/cm5/programs/cmam.hpp"

#include <utility>

namespace am::cm5 {

namespace {

constexpr Header header{.length = most_words, .tag = 1};

}  // namespace

Word Cmam::place(Handler handler) {
  handlers_.push_back(std::move(handler));
  return static_cast<Word>(handlers_.size() - 1);
}

Program Cmam::request(Processor& cpu, NodeNumber to, Word handler, Arguments arguments) {
  return send(cpu, Side::left, to, handler, arguments);
}

Program Cmam::reply(Processor& cpu, NodeNumber to, Word handler, Arguments arguments) {
  return send(cpu, Side::right, to, handler, arguments);
}

Program Cmam::send(Processor& cpu, Side side, NodeNumber to, Word handler, Arguments arguments) {
  const auto& [a, b, c, d] = arguments;
  co_await cpu.cycles(costs::enter_send);
  for (;;) {
    co_await cpu.send_first(side, header, to, handler);
    co_await cpu.send_data(side, {a, b});
    co_await cpu.send_data(side, {c, d});
    const Status status = co_await cpu.status(side);
    co_await cpu.cycles(costs::test_and_branch);
    if (status.send_ok) break;
    ++refused_;
    if (side == Side::left) co_await serve(cpu, Side::left);
    co_await serve(cpu, Side::right);
  }
  co_await cpu.cycles(costs::back);
}

Program Cmam::poll(Processor& cpu) {
  co_await cpu.cycles(costs::enter_poll);
  co_await serve(cpu, Side::left);
  co_await cpu.cycles(costs::next_network);
  co_await serve(cpu, Side::right);
  co_await cpu.cycles(costs::leave_poll);
}

Program Cmam::serve(Processor& cpu, Side side) {
  for (;;) {
    const Status status = co_await cpu.status(side);
    co_await cpu.cycles(costs::test_and_branch);
    if (!status.receive_ok) co_return;
    co_await cpu.cycles(costs::dispatch);
    const Processor::TwoWords first = co_await cpu.receive_two(side);
    const Processor::TwoWords second = co_await cpu.receive_two(side);
    Incoming incoming{{first[1], second[0], second[1], co_await cpu.receive(side)}};
    co_await handlers_.at(first[0])(cpu, incoming);
    co_await cpu.cycles(costs::back + costs::loop);
  }
}

}  // namespace am::cm5
