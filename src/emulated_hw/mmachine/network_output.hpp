// The network output units of an M-Machine node, one for each priority, and what decides whether a SEND may issue (4.2).
//
//   registers --> C-switch --> queue of 16 words --> the router
//                    |
//                  GTLB (P0): where to
//
// A SEND is atomic: it issues only when its whole message has room in the queue, 13 words at least, so that nothing afterwards can hold up
// its thread. What else it waits for: a free bounce buffer, which OMBC counts, when it is throttled; and that no message before it waits
// for a translation, when it is ordered and virtually addressed.
//
// A message that the GTLB does not know becomes an event, for a handler to send it (programs/gtlb_misses.hpp); its buffer stays taken. The unit is
// busy until it has made the event (4.2.3).
//
// Time. Words cross the C-switch one a cycle. The header is in the queue `output_cycles` after the cycle in which SEND issues: calibrated,
// so that MsgHead is there 11 cycles after that between neighbours (7.2.2), of which 5 follow from the router and the input unit. A footnote
// there counts the handling in these 11, too; but 5 to send, 11 and 3 to dispatch are the 19 of Figure 3-2. The condition register is full in the cycle behind the last word (4.2.3).
//
// A message that comes back has up to 15 words (3.3.2); it waits for room for these.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.1, 3.3.2, 4.2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/fifo.hpp"
#include "emulated_hw/mmachine/gtlb.hpp"
#include "emulated_hw/mmachine/message.hpp"
#include "emulated_hw/mmachine/send_instructions.hpp"

namespace am::mmachine {

using kit::Cycle;

/// One unit's queue.
class OutputQueue {
 public:
  static constexpr unsigned queue_words = 16;
  static constexpr unsigned room_for_send = 13;

  [[nodiscard]] bool has_room(unsigned words) const noexcept {
    return queue_words - queue_.size() >= (words > room_for_send ? words : room_for_send);
  }
  /// Its words are there one a cycle, from the cycle `first` on.
  void put(const Message& message, Cycle first) noexcept {
    for (unsigned at = 0; at < message.flits(); ++at) queue_.push({message.flit(at), first + at});
  }
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  [[nodiscard]] const Flit* front(Cycle now) const noexcept {
    return queue_.empty() || queue_.front().there_at > now ? nullptr : &queue_.front().flit;
  }
  void pop() noexcept { queue_.pop(); }

 private:
  struct Entry {
    Flit flit{};
    Cycle there_at = 0;
  };
  kit::Fifo<Entry, queue_words> queue_;
};

class NetworkOutput {
 public:
  static constexpr unsigned output_cycles = 6;
  static constexpr unsigned event_cycles = 3;               ///< a word of the event each
  static constexpr unsigned most_buffers = (1u << 10) - 1;  ///< OMBC has 10 bits

  /// Of the node `here` in a mesh that ends at `last`.
  NetworkOutput(NodePlace here, NodePlace last) noexcept : here_(here), last_(last) {}

  /// msgav, thtav and ordav: whether it may issue.
  [[nodiscard]] bool may_issue(const SendInstruction& what, unsigned argcount, Cycle now) const noexcept {
    const bool available =
        busy_until_[what.priority] <= now && queues_[what.priority].has_room(words_before_body + argcount);
    const bool throttled = what.is_throttled && buffers_ == 0;
    const bool behind_a_miss = what.is_ordered && !what.is_physical && missed_;
    return available && !throttled && !behind_a_miss;
  }
  /// It issues, as it may. Cycles until its condition register is full; none: its destination is not known, and the miss is on.
  /// Throws std::out_of_range where an NID or the GTLB leads outside the mesh: the hardware would lose it there.
  std::optional<Cycle> issue(const Sent& sent, const Body& body, Cycle now) {
    const SendInstruction& what = sent.what();
    const std::optional<NodePlace> to = place_of(sent);
    if (to && (to->x > last_.x || to->y > last_.y))
      throw std::out_of_range("mmachine: a message to " + to_text(*to) + ", in a mesh that ends at " +
                              to_text(last_));
    const unsigned words = words_before_body - 1 + sent.argcount;  // the header is made here
    busy_until_[what.priority] = now + words;
    if (what.is_throttled) --buffers_;
    if (!to) {
      missed_ = true;
      busy_until_[what.priority] += event_cycles;
      return {};
    }
    const auto priority = static_cast<Priority>(what.priority);
    Message message;
    message.header = {.destination = *to,
                      .sender = here_,
                      .argcount = static_cast<std::uint8_t>(sent.argcount),
                      .ordered = what.is_ordered,
                      .priority = priority};
    message.handler = injected(sent.handler);
    message.address = sent.destination;
    message.body = body;
    queues_[what.priority].put(message, now + output_cycles);
    return words + 1;
  }

  [[nodiscard]] Gtlb& gtlb() noexcept { return gtlb_; }
  [[nodiscard]] bool has_missed() const noexcept { return missed_; }
  /// The flag that IGTWR clears.
  void clear_miss() noexcept { missed_ = false; }

  /// OMBC: how many throttled messages may still be sent. The system sets it, and gives one back for each message that was consumed.
  [[nodiscard]] unsigned buffers() const noexcept { return buffers_; }
  void set_buffers(unsigned count) noexcept { buffers_ = count < most_buffers ? count : most_buffers; }
  void give_back_buffer() noexcept { set_buffers(buffers_ + 1); }

  [[nodiscard]] const Flit* outgoing(Priority priority, Cycle now) const noexcept {
    return queues_[index(priority)].front(now);
  }
  void gone(Priority priority) noexcept { queues_[index(priority)].pop(); }
  [[nodiscard]] bool is_empty() const noexcept { return queues_[0].empty() && queues_[1].empty(); }

 private:
  [[nodiscard]] std::optional<NodePlace> place_of(const Sent& sent) const noexcept {
    if (sent.node) return sent.node;
    if (sent.what().is_physical) return mmachine::place_of(sent.destination.bits);
    const auto pointer = GuardedPointer::of(sent.destination);
    if (!pointer) return {};
    const auto found = gtlb_.translate(pointer->address());
    return found ? std::optional(found->node) : std::nullopt;
  }

  const NodePlace here_;
  const NodePlace last_;
  Gtlb gtlb_;
  bool missed_ = false;
  unsigned buffers_ = 0;
  std::array<OutputQueue, priorities> queues_{};
  std::array<Cycle, priorities> busy_until_{};  // words of the last message cross the C-switch
};

}  // namespace am::mmachine
