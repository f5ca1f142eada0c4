// The network interface of a CM-5 node (von Eicken 1993, 3.2.3, Figures 3-10 and 3-11): for each data network an output and an input FIFO, which
// the processor fills and empties by stores and loads, a word or two at a time. Here is what an access does; what it costs is the processor's.
//
// To send: a store to send-first gives the destination, and in its address length and tag; stores to send-data give the words. Behind the
// last word the message is launched. "If at any point the output FIFO is full, the network interface simply drops the message": the program
// looks at send_ok afterwards, and sends again. To receive: the status has the tag and the length of the first message, and loads take its
// words. Messages to the own node loop back into the input FIFO.
//
// A user's destination is logical: a map of the kernel's translates it, and refuses what is not in there, as a mask does for tags that the kernel
// has reserved. What is refused is dropped like what finds no space. The kernel's destinations are physical.
//
// The kernel sends after it has set send-lock: that flushes a message which the user has begun, "clears the send-ok flag", and refuses the user's
// stores until it is lifted. A reserved tag at the front of the input FIFO interrupts, as do others that the kernel has chosen.
//
// Assumed, since the text has lost it: an output FIFO has room for two of the longest messages with their destinations, an input FIFO for
// three with a word for tag and length, one for each link and one of its own; while locked, the kernel has a send_ok of its own; a send-first
// before the last word of the message before drops that; a message to the own node takes one cycle; an interrupt is raised when its message
// is the first.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "emulated_hw/cm5/message.hpp"
#include "emulated_hw/cm5/network.hpp"
#include "emulated_hw/kit/fifo.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::cm5 {

enum class By : std::uint8_t { user, kernel };

/// What the address bits of a store to send-first say.
struct Header {
  unsigned length = 0;  ///< data words
  unsigned tag = 0;
};

/// The status register of one data network.
struct Status {
  bool send_ok = false;     ///< the last message has been taken, and will be delivered
  unsigned send_space = 0;  ///< words: a hint
  bool receive_ok = false;  ///< a message is there, and these are its
  unsigned receive_tag = 0;
  unsigned receive_length = 0;  ///< words that have not been read
};

class NetworkInterface {
 public:
  static constexpr unsigned message_words = 1 + most_words;
  static constexpr unsigned output_words = 2 * message_words;  ///< assumed
  static constexpr unsigned input_words = 3 * message_words;   ///< assumed

  /// The networks outlive it.
  NetworkInterface(DataNetworks& networks, NodeNumber node) : networks_(&networks), node_(node) {}

  // -- stores and loads of the user, and of the kernel

  /// Throws std::invalid_argument where no address says such a header; std::logic_error where the kernel has not set send-lock.
  void send_first(Side side, const Header& header, Word destination, By by = By::user);
  void send_data(Side side, Word word, By by = By::user);
  [[nodiscard]] Status status(Side side, By by = By::user) const;
  /// The next word of the first message. Throws std::logic_error, the machine's exception, where there is none.
  Word receive(Side side);

  // -- of the kernel alone

  /// By logical destination: a node, or kit::nowhere. It outlives its use. At first the user may send nowhere.
  void map(std::span<const NodeNumber> nodes) noexcept { map_ = nodes; }
  /// Tags as bits: the user may not send them, and they interrupt.
  void reserve(std::uint16_t these) noexcept { reserved_ = these; }
  /// These interrupt, too.
  void interrupt_on(std::uint16_t these) noexcept { interrupting_ = these; }
  [[nodiscard]] bool interrupts(Side side) const {
    const auto& input = fifos_[side].input;
    return !input.empty() && ((reserved_ | interrupting_) >> input.front().tag & 1) != 0;
  }
  /// Of what is flushed, send_ok has been cleared by its send-first.
  void send_lock(bool on) noexcept {
    locked_ = on;
    for (Fifos& fifos : fifos_.both) {
      if (on) fifos.drop_partial();
    }
  }
  [[nodiscard]] bool is_locked() const noexcept { return locked_; }
  /// The first message, whole, with its original destination; there is one, and none of it has been read.
  Message take(Side side) {
    Fifos& fifos = fifos_[side];
    fifos.input_used -= words_of(fifos.input.front());
    return fifos.input.pop();
  }

  /// Both FIFOs of a network, and send_ok.
  struct Fifos {
    kit::Fifo<Message, output_words> output;  // complete
    unsigned output_used = 0;                 // words, with those of the message that is being pushed
    Message partial{};
    unsigned pushed = 0;  // its words
    By pushed_by = By::user;
    bool is_pushing = false;
    std::array<bool, 2> send_ok{};            // by By
    kit::Fifo<Message, input_words> input{};  // a message takes a word more than it has
    unsigned input_used = 0;
    unsigned read = 0;  // words of the first

    /// Takes space for a word. False: there is none.
    bool push() noexcept {
      if (output_used == output_words) return false;
      ++output_used;
      return true;
    }
    void end_if_whole() {
      if (pushed < partial.length) return;
      output.push(partial);
      send_ok[static_cast<std::size_t>(pushed_by)] = true;
      is_pushing = false;
      pushed = 0;
    }
    void drop_partial() noexcept {
      if (std::exchange(is_pushing, false)) output_used -= 1 + std::exchange(pushed, 0);
    }
    void put(const Message& message) {
      input.push(message);
      input_used += words_of(message);
    }
  };
  using Context = BySide<Fifos>;
  /// Leaves them empty. The user is locked out.
  Context save() { return std::exchange(fifos_, {}); }
  /// They are empty, and nothing is under way to this node.
  void restore(const Context& context);

  // -- the network

  /// One cycle, before the network's.
  void step();
  /// Until a message comes, or the processor stores anything.
  [[nodiscard]] bool has_nothing_to_do() const noexcept {
    return fifos_[Side::left].output.empty() && fifos_[Side::right].output.empty();
  }
  /// Messages that it has put into the networks, and taken out.
  [[nodiscard]] std::uint64_t launched() const noexcept { return launched_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  /// Adds this node, if a message of its waits, and if one waits for it to receive.
  void add_waits(kit::Waits& waits) const;

 private:
  [[nodiscard]] NodeNumber translated(Word destination, const Header& header, By by) const;
  void launch(Side side);
  void accept(Side side);
  [[nodiscard]] static constexpr unsigned words_of(const Message& message) noexcept {
    return 1u + message.length;
  }
  /// Of the output FIFO, the first message.
  [[nodiscard]] bool loops_back(Side side) const {
    const auto& output = fifos_[side].output;
    return !output.empty() && output.front().to == node_;
  }
  /// In the input FIFO, beside what is set aside for links.
  [[nodiscard]] bool has_space(Side side, unsigned words) const {
    const auto links = static_cast<unsigned>(std::popcount(awaits_[side]));
    return fifos_[side].input_used + links * message_words + words <= input_words;
  }

  DataNetworks* networks_;
  NodeNumber node_;
  Context fifos_{};
  BySide<unsigned> awaits_{};           // links by which a message may come, as bits
  BySide<bool> own_first_{true, true};  // a message to the own node has the next space
  std::span<const NodeNumber> map_;
  std::uint16_t reserved_ = 0;
  std::uint16_t interrupting_ = 0;
  bool locked_ = false;
  std::uint64_t launched_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace am::cm5
