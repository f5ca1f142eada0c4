// Return to sender (3.3.2): a node that cannot take a message sends it back, whole, and the sender keeps it in a bounce buffer until it sends it
// again. OMBC counts the buffers that are free, one for each throttled message that is under way: so every message has one, and the network
// always empties.
//
//   SEND, OMBC - 1 --> handler --> consumed: acknowledged by P1 --> OMBC + 1
//                              --> no room: bounced by P1 --> a bounce buffer --> sent again, not throttled
//
// Bouncing and counting is software, in handlers: a handler of a throttled message ends with acknowledge() or with bounce(). What comes back
// is a message of P1, always taken, with HandlerIP and DestAddr before its body.
//
// Assumed: a thread of the system, in a slot that a program gives it, sends again what lies in bounce buffers, oldest first, after a pause,
// counted by instructions, that doubles with each time up to a limit. What is sent again is in no order with later messages.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.2.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

#include "emulated_hw/mmachine/chip.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace am::mmachine {

class ReturnToSender {
 public:
  /// Where its handlers are, the same on all nodes.
  struct Addresses {
    std::uint64_t acknowledged = 0;
    std::uint64_t bounced = 0;
  };
  /// On this chip, which it sets OMBC of, and places the handlers on. They outlive each other.
  ReturnToSender(Chip& chip, const Addresses& addresses, unsigned buffers) : addresses_(addresses) {
    chip.output().set_buffers(buffers);
    chip.place(addresses.acknowledged, [](Thread& thread) -> Program { co_await thread.give_back_buffer(); });
    chip.place(addresses.bounced, [this](Thread& thread) { return take_back(thread); });
  }
  ReturnToSender(const ReturnToSender&) = delete;
  ReturnToSender& operator=(const ReturnToSender&) = delete;

  /// A throttled message as its handler has read it.
  struct Read : Opening {
    Word handler{};
    std::array<Word, most_body> body{};
  };
  /// Reads the message that a handler has begun with, whose HandlerIP it knows.
  [[nodiscard]] Program read(Thread& thread, Word handler, Read& into) {
    into.handler = handler;
    co_await open(thread, into);
    co_await thread.cycles(words_before_body);
    co_await read_body(thread, into);
  }
  /// It has been consumed: its sender may send another one.
  [[nodiscard]] Program acknowledge(Thread& thread, Word sender) {
    co_await thread.send({.instruction = Send::isnd1pnt,
                          .destination = sender,
                          .handler = pointer_to(PointerType::execute_system, addresses_.acknowledged)});
  }
  /// There is no room for it here.
  [[nodiscard]] Program bounce(Thread& thread, const Read& message) {
    if (message.argcount > most_body)
      throw Exception("bounce: no message that is throttled has so many words");
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
  /// Sends again what has come back: for a slot of the system. It does not end.
  [[nodiscard]] Program send_again(Thread& thread) {
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
      const Read bounced = buffers_.front();
      buffers_.pop_front();
      std::copy_n(bounced.body.begin(), bounced.argcount, thread.integers.begin());
      co_await thread.cycles(bounced.argcount);
      bool sent = true;
      try {
        co_await thread.send({.instruction = Send::isnd0pnt,
                              .destination = bounced.address,
                              .handler = bounced.handler,
                              .argcount = bounced.argcount,
                              .node = place_of(bounced.sender.bits)});
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

  /// Messages of this node that came back.
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }
  /// Messages that came back with a handler that is none, as a fault of a wire makes one: dropped.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::size_t in_buffers() const noexcept { return buffers_.size(); }
  [[nodiscard]] std::size_t most_in_buffers() const noexcept { return most_in_buffers_; }

 private:
  static constexpr unsigned shortest_pause = 16;  // cycles
  static constexpr unsigned longest_pause = 1024;
  static constexpr unsigned something_came_back = 2;  // a condition register
  static constexpr unsigned words_of_origin = 2;  // HandlerIP and DestAddr, in the body of what comes back

  static Program read_body(Thread& thread, Read& into) {
    for (unsigned word = 0; word < std::min(into.argcount, most_body); ++word) {
      into.body[word] = co_await thread.msg_body();
      co_await thread.cycles(1);
    }
  }
  Program take_back(Thread& thread) {
    Read bounced;
    co_await open(thread, bounced);
    bounced.handler = co_await thread.msg_body();
    bounced.address = co_await thread.msg_body();  // for DestAddr of what brought it: this node
    co_await thread.cycles(words_before_body + words_of_origin);
    if (bounced.argcount < words_of_origin || bounced.argcount > most_bounced_body)
      throw Exception("not a message that comes back");
    bounced.argcount -= words_of_origin;
    co_await read_body(thread, bounced);
    buffers_.push_back(bounced);
    most_in_buffers_ = std::max(most_in_buffers_, buffers_.size());
    ++bounces_;
    if (retrier_ != nullptr) retrier_->fill(something_came_back);
  }

  const Addresses addresses_;
  std::deque<Read> buffers_;
  std::size_t most_in_buffers_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t lost_ = 0;
  Thread* retrier_ = nullptr;
};

}  // namespace am::mmachine
