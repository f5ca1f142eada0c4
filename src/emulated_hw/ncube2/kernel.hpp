// The kernel of an nCUBE/2 node, to the protocol of von Eicken 1993, 3.1.4: it sends for the program, and has set up all input engines
// with buffers.
//
//   co_await kernel.send({.to = 5, .at = 100, .words = 7}, WhenBusy::suspend, sent);   // a trap
//   co_await kernel.receive(Delivery::map, 0, message);                                 // one more
//
// A message: its address, a word of the kernel, then what the program says. The program leaves the first two words free, and does not
// touch the message until it has gone. The hardware checks nothing (NC-25): the kernel checks that the node is one of the program's
// partition, that the words are in its segment, and that they fit into a receiver's buffer. So no message runs over its buffer.
//
// An input interrupt looks at the header and restarts the engine with a free buffer. Then the message waits for the program, or an upcall has
// it at once. A port without a buffer is off until one is free: what comes there waits in the network, and keeps its links. So a send may
// fail until any number of messages has been received (3.3); nothing is reserved for the system.
//
// Assumed: the kernel's word holds the sender and the length, which the hardware does not tell; buffers are of one size, and any port's; a
// program maps no more messages at once than it has segments; the kernel's code.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "emulated_hw/ncube2/processor.hpp"

namespace am::ncube2 {

inline constexpr Word header_words = 2;  ///< the address, and the kernel's word

/// What the kernel's code takes, its accesses to memory and its privileged instructions not included. Assumed.
namespace costs {
inline constexpr unsigned check =
    5 * compare_and_branch;  ///< two bounds of the partition, the node itself, the segment, the length
inline constexpr unsigned find_engine = bitwise + first_bit + compare_and_branch;
inline constexpr unsigned queue = 2 * store;
inline constexpr unsigned find_buffer = load + compare_and_branch;
inline constexpr unsigned map = 2 * privileged;  ///< base and limit of a data segment
inline constexpr unsigned copy_load = operand::auto_increment;
inline constexpr unsigned copy_store = operand::auto_increment + move;
}  // namespace costs

/// What becomes of a send whose engine is at work: it fails, is queued, or its program is suspended.
enum class WhenBusy : std::uint8_t { fail, queue, suspend };
enum class Sent : std::uint8_t { going, queued, busy, refused };
/// How a program gets a message: copied into its segment, or by a data segment that shows the buffer.
enum class Delivery : std::uint8_t { copy, map };

class Kernel {
 public:
  struct Setting {
    NodeNumber first = 0;    ///< of its program's partition
    NodeNumber nodes = 0;    ///< of that
    unsigned buffers = 0;    ///< for what comes, to all ports
    Word most_words = 16;    ///< of a message: a buffer
    bool interrupts = true;  ///< when a message has come; or else poll() looks
  };
  struct Message {
    NodeNumber to = 0;
    Word at = 0;     ///< in the program's segment: header_words that are free, then its own
    Word words = 0;  ///< all of these
  };
  /// What has come.
  struct Received {
    NodeNumber from = 0;
    Word at = 0;        ///< behind the header
    Word words = 0;     ///< none: nothing has come
    bool kept = false;  ///< an upcall's: the buffer is not free when that ends
  };
  using Upcall = std::function<Program(Processor&, Received&)>;

  /// Boots: takes no time. The processor outlives it. Throws std::invalid_argument where memory does not hold the buffers.
  Kernel(Processor& cpu, const Setting& setting);
  Kernel(const Kernel&) = delete;  // interrupts refer to it
  Kernel& operator=(const Kernel&) = delete;

  /// The program's segment: from 0 to here.
  [[nodiscard]] Word segment() const noexcept { return segment_; }
  /// Has each message at once, in the kernel, in place of the program. Before any comes.
  void when_received(Upcall upcall) { upcall_ = std::move(upcall); }

  // -- system calls of its program, each with its trap

  Program send(Message message, WhenBusy when_busy, Sent& sent) {
    return cpu_.trap(check_and_submit(message, when_busy, sent));
  }
  /// The oldest message; `to`: where it is copied.
  Program receive(Delivery how, Word to, Received& received) { return cpu_.trap(take(how, to, received)); }
  /// A message that was mapped is no longer needed.
  Program release(Received received) { return cpu_.trap(give_back(received.at - header_words)); }
  /// Looks whether messages have come, and does what an interrupt does.
  Program poll() { return cpu_.trap(look()); }

  // -- within an upcall

  /// Sends from the buffer of what has come, from where it is. It is free when that has gone.
  Program reply(Received& received, NodeNumber to, Word words);

 private:
  struct Outgoing {
    Word at = 0;
    Word words = 0;
    bool is_buffer = false;  // that is free when it has gone
  };
  struct Output {
    std::deque<Outgoing> queue;
    std::optional<Word> releases;  // a buffer that the engine sends
  };

  [[nodiscard]] bool may_send(const Message& message) const noexcept;
  /// Its output engine is at work, or has work that its interrupt is to find.
  [[nodiscard]] bool is_busy(unsigned dimension) const noexcept {
    const Output& output = outputs_[dimension];
    return cpu_.engines().is_sending(dimension) || !output.queue.empty() || output.releases;
  }
  Program check_and_submit(Message message, WhenBusy when_busy, Sent& sent);
  Program submit(NodeNumber to, Outgoing outgoing, WhenBusy when_busy, Sent& sent);
  Program go(unsigned dimension, Outgoing outgoing);
  Program gone(unsigned dimension);
  Program come(unsigned dimension);
  Program take(Delivery how, Word to, Received& received);
  Program look();
  Program give_back(Word buffer);

  Processor& cpu_;
  const Setting setting_;
  Word segment_;
  Upcall upcall_;
  std::vector<Word> free_;
  std::array<Word, most_dimensions> input_{};  // buffers, by port
  std::uint16_t without_buffer_ = 0;           // ports that are off
  std::array<Output, most_dimensions> outputs_;
  std::deque<Received> received_;
};

}  // namespace am::ncube2
