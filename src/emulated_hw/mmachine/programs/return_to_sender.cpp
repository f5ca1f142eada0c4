#include "emulated_hw/mmachine/programs/return_to_sender.hpp"

#include <algorithm>

#include "emulated_hw/mmachine/programs/pointer_to.hpp"

namespace am::mmachine {

namespace {

constexpr unsigned shortest_pause = 16;  // cycles
constexpr unsigned longest_pause = 1024;
constexpr unsigned something_came_back = 2;  // a condition register
constexpr unsigned words_of_origin = 2;      // HandlerIP and DestAddr, in the body of what comes back

}  // namespace

ReturnToSender::ReturnToSender(Chip& chip, const Addresses& addresses, unsigned buffers)
    : addresses_(addresses) {
  chip.output().set_buffers(buffers);
  chip.place(addresses.acknowledged, [](Thread& thread) -> Program { co_await thread.give_back_buffer(); });
  chip.place(addresses.bounced, [this](Thread& thread) { return take_back(thread); });
}

Program ReturnToSender::read(Thread& thread, Word handler, Read& into) {
  into.handler = handler;
  into.argcount = static_cast<unsigned>((co_await thread.msg_body()).bits);
  into.sender = co_await thread.msg_body();
  into.address = co_await thread.msg_body();
  co_await thread.cycles(words_before_body);
  for (unsigned word = 0; word < std::min(into.argcount, most_body); ++word) {
    into.body[word] = co_await thread.msg_body();
    co_await thread.cycles(1);
  }
}

Program ReturnToSender::acknowledge(Thread& thread, Word sender) {
  co_await thread.send({.instruction = Send::isnd1pnt,
                        .destination = sender,
                        .handler = pointer_to(PointerType::execute_system, addresses_.acknowledged)});
}

Program ReturnToSender::bounce(Thread& thread, const Read& message) {
  if (message.argcount > most_body) throw Exception("bounce: no message that is throttled has so many words");
  thread.integers[0] = message.handler;
  thread.integers[1] = message.address;
  std::copy_n(message.body.begin(), message.argcount, thread.integers.begin() + words_of_origin);
  co_await thread.cycles(words_of_origin + message.argcount);
  co_await thread.send({.instruction = Send::isnd1pnt,
                        .destination = message.sender,
                        .handler = pointer_to(PointerType::execute_system, addresses_.bounced),
                        .argcount = words_of_origin + message.argcount,
                        .condition = 1});
  co_await thread.full(1);
}

Program ReturnToSender::take_back(Thread& thread) {
  Bounced bounced;
  const Word argcount = co_await thread.msg_body();
  bounced.from = co_await thread.msg_body();
  co_await thread.msg_body();  // DestAddr of what brought it: this node
  bounced.handler = co_await thread.msg_body();
  bounced.address = co_await thread.msg_body();
  co_await thread.cycles(words_before_body + words_of_origin);
  if (argcount.bits < words_of_origin || argcount.bits > most_bounced_body)
    throw Exception("not a message that comes back");
  bounced.argcount = static_cast<unsigned>(argcount.bits) - words_of_origin;
  for (unsigned word = 0; word < bounced.argcount; ++word) {
    bounced.body[word] = co_await thread.msg_body();
    co_await thread.cycles(1);
  }
  buffers_.push_back(bounced);
  most_in_buffers_ = std::max(most_in_buffers_, buffers_.size());
  ++bounces_;
  if (retrier_ != nullptr) retrier_->fill(something_came_back);
}

Program ReturnToSender::send_again(Thread& thread) {
  unsigned pause = shortest_pause;
  for (;;) {
    if (buffers_.empty()) {
      pause = shortest_pause;
      retrier_ = &thread;
      thread.empty(something_came_back);
      co_await thread.full(something_came_back);
    }
    co_await thread.cycles(pause);
    pause = std::min(2 * pause, longest_pause);
    const Bounced bounced = buffers_.front();
    buffers_.pop_front();
    std::copy_n(bounced.body.begin(), bounced.argcount, thread.integers.begin());
    co_await thread.cycles(bounced.argcount);
    bool sent = true;
    try {
      co_await thread.send({.instruction = Send::isnd0pnt,
                            .destination = bounced.address,
                            .handler = bounced.handler,
                            .argcount = bounced.argcount,
                            .node = place_of(bounced.from.bits)});
    } catch (const Exception&) {
      sent = false;
    }
    if (sent) {
      co_await thread.full(0);
    } else {
      ++lost_;
      co_await thread.give_back_buffer();
    }
  }
}

}  // namespace am::mmachine
