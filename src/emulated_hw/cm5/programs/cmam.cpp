#include "emulated_hw/cm5/programs/cmam.hpp"

#include <algorithm>

namespace am::cm5 {

namespace {

constexpr unsigned message_tag = 1;
constexpr unsigned piece_tag = 2;
constexpr Word piece_words = 4;
constexpr unsigned offset_bits = 20;  // of a piece's first word; above is the segment

}  // namespace

Program Cmam::send(Processor& cpu, Side side, NodeNumber to, Word handler, Arguments arguments) {
  const auto& [a, b, c, d] = arguments;
  co_await cpu.cycles(costs::enter_send);
  for (;;) {
    co_await cpu.send_first(side, {.length = most_words, .tag = message_tag}, to, handler);
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
    if (status.receive_tag == piece_tag) {
      co_await take_piece(cpu, side);
    } else {
      co_await take_message(cpu, side);
    }
    co_await cpu.cycles(costs::back + costs::loop);
  }
}

Program Cmam::take_message(Processor& cpu, Side side) {
  const Processor::TwoWords first = co_await cpu.receive_two(side);
  const Processor::TwoWords second = co_await cpu.receive_two(side);
  Incoming incoming{{first[1], second[0], second[1], co_await cpu.receive(side)}};
  co_await handlers_.at(first[0])(cpu, incoming);
}

// -- blocks

Program Cmam::xfer(Processor& cpu, NodeNumber to, Word segment, Word at, Word words) {
  co_await cpu.cycles(costs::enter_send);
  for (Word sent = 0; sent < words;) {
    const Processor::TwoWords first = co_await cpu.load_two(at + sent);
    const Processor::TwoWords second = co_await cpu.load_two(at + sent + 2);
    co_await cpu.send_first(Side::left, {.length = most_words, .tag = piece_tag}, to,
                            segment << offset_bits | sent);
    co_await cpu.send_data(Side::left, first);
    co_await cpu.send_data(Side::left, second);
    const Status status = co_await cpu.status(Side::left);
    co_await cpu.cycles(costs::next_piece);
    if (status.send_ok) {
      sent += piece_words;
      continue;
    }
    ++refused_;
    co_await serve(cpu, Side::left);
    co_await serve(cpu, Side::right);
  }
  co_await cpu.cycles(costs::back);
}

/// Pieces come in any order.
Program Cmam::take_piece(Processor& cpu, Side side) {
  const Word what = co_await cpu.receive(side);
  const Processor::TwoWords first = co_await cpu.receive_two(side);
  const Processor::TwoWords second = co_await cpu.receive_two(side);
  const Word from = what >> offset_bits;
  Open& segment = segments_.at({cpu.node(), from});
  const Word to = segment.what.at + (what & ((Word{1} << offset_bits) - 1));
  co_await cpu.cycles(costs::segment);
  co_await cpu.store_two(to, first);
  co_await cpu.store_two(to + 2, second);
  segment.left -= std::min(segment.left, piece_words);
  if (segment.left != 0) co_return;
  Incoming incoming{{from, segment.what.words}};
  co_await handlers_.at(segment.what.handler)(cpu, incoming);
}

}  // namespace am::cm5
