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

#include <array>
#include <cstdint>
#include <deque>

#include "emulated_hw/mmachine/chip.hpp"

namespace am::mmachine {

class ReturnToSender {
 public:
  /// Where its handlers are, the same on all nodes.
  struct Addresses {
    std::uint64_t acknowledged = 0;
    std::uint64_t bounced = 0;
  };
  /// On this chip, which it sets OMBC of, and places the handlers on. They outlive each other.
  ReturnToSender(Chip& chip, const Addresses& addresses, unsigned buffers);
  ReturnToSender(const ReturnToSender&) = delete;
  ReturnToSender& operator=(const ReturnToSender&) = delete;

  /// A throttled message as its handler has read it.
  struct Read {
    Word handler{};
    Word sender{};  ///< its NID
    Word address{};
    unsigned argcount = 0;
    std::array<Word, most_body> body{};
  };
  /// Reads the message that a handler has begun with, whose HandlerIP it knows.
  [[nodiscard]] Program read(Thread& thread, Word handler, Read& into);
  /// It has been consumed: its sender may send another one.
  [[nodiscard]] Program acknowledge(Thread& thread, Word sender);
  /// There is no room for it here.
  [[nodiscard]] Program bounce(Thread& thread, const Read& message);
  /// Sends again what has come back: for a slot of the system. It does not end.
  [[nodiscard]] Program send_again(Thread& thread);

  [[nodiscard]] std::uint64_t bounces() const noexcept {
    return bounces_;
  }  ///< messages of this node that came back
  /// Messages that came back with a handler that is none, as a fault of a wire makes one: dropped.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::size_t in_buffers() const noexcept { return buffers_.size(); }
  [[nodiscard]] std::size_t most_in_buffers() const noexcept { return most_in_buffers_; }

 private:
  struct Bounced {
    Word handler{};
    Word address{};
    Word from{};  // the node that it came back from
    unsigned argcount = 0;
    std::array<Word, most_body> body{};
  };
  Program take_back(Thread& thread);

  const Addresses addresses_;
  std::deque<Bounced> buffers_;
  std::size_t most_in_buffers_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t lost_ = 0;
  Thread* retrier_ = nullptr;
};

}  // namespace am::mmachine
