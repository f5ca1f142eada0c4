// A network input unit: where a node's messages of one priority come in (4.3), and what MsgHead and MsgBody read.
//
//   from the router --> front end --> queue of 32 words --> MsgHead, MsgBody
//                                     queue of 4 sizes
//
// A handler sees HandlerIP, the count of arguments, the sender's NID, DestAddr, the body. It may begin before the last word is there: a read of
// MsgBody waits for it. Behind the tail it gets an ErrVal, as often as it reads; a read of MsgHead goes on to the next message, whatever
// of this one is left.
//
// A flit whose parity is wrong is an ErrVal to the handler. Where that is the header, the message may be on the wrong node: its HandlerIP is
// one, and it ends behind its address (4.3.1).
//
// Assumed: the three words that a header makes are written in one cycle, when HandlerIP is there. An input takes no flit that could find no
// place: for a header, a size and three words; for others, a word.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.2, 4.3, 5.2.4.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "emulated_hw/mmachine/guarded_pointer.hpp"
#include "emulated_hw/mmachine/message.hpp"

namespace am::mmachine {

class NetworkInput {
 public:
  static constexpr unsigned queue_words = 32;
  static constexpr unsigned queue_messages = 4;

  /// `parity_faults` is the node's count of them.
  NetworkInput(Priority priority, std::uint8_t& parity_faults) noexcept
      : priority_(priority), parity_faults_(parity_faults) {}

  // -- the router

  [[nodiscard]] bool has_room() const noexcept {
    const Position& oldest = before_ ? *before_ : now_;
    if (at_ == 0 && come_ - oldest.read == queue_messages) return false;
    const std::uint64_t free = queue_words - (end_ - oldest.begin);
    return free >= (at_ <= 1 ? words_of_header : 1u);
  }
  void take(const Flit& flit) noexcept {
    const unsigned at = at_++;
    const bool whole = flit.is_whole();
    if (!whole) ++parity_faults_;
    if (at == 0) {
      header_ = Header::of(flit.word.bits);
      misled_ = !whole;
    } else if (at == 1) {
      const unsigned size = misled_ ? words_of_misled : words_of_misled + header_.argcount;
      sizes_[come_++ % queue_messages] = static_cast<std::uint8_t>(size);
      put(whole && !misled_ ? flit.word : fault(), false);
      put({header_.argcount, false}, false);
      put({nid_of(header_.sender), false}, false);
    } else if (at == 2 || !misled_) {
      put(whole ? flit.word : fault(), flit.tail || misled_);
    }
    if (flit.tail) at_ = 0;
  }

  // -- the processor

  /// headav and bodyav: whether a read would not wait.
  [[nodiscard]] bool head_is_there() const noexcept { return now_.next < end_; }
  [[nodiscard]] bool body_is_there() const noexcept { return now_.ended || now_.begin < end_; }
  /// HandlerIP of the next message, which is there.
  Word head() noexcept {
    before_ = now_;
    const Word word = queue_[now_.next % queue_words].word;
    now_.begin = now_.next + 1;
    now_.next += sizes_[now_.read++ % queue_messages];
    now_.ended = false;
    return word;
  }
  /// The next word of this message, which is there.
  Word body() noexcept {
    before_ = now_;
    if (now_.ended) return past_the_tail();
    const Place& place = queue_[now_.begin++ % queue_words];
    now_.ended = place.tail;
    return place.word;
  }
  /// The instruction that has read was squashed: it has read nothing. In the cycle behind it.
  void undo() noexcept {
    if (before_) now_ = *before_;
    before_.reset();
  }
  /// That cycle is over.
  void settle() noexcept { before_.reset(); }
  [[nodiscard]] bool has_to_settle() const noexcept { return before_.has_value(); }

 private:
  static constexpr unsigned words_of_header = 3;  // HandlerIP, count, NID
  static constexpr unsigned words_of_misled = 4;  // the same and DestAddr

  struct Place {
    Word word{};
    bool tail = false;
  };
  /// Where the processor stands. Words and messages are counted from the beginning; a place is its number modulo those that there are.
  struct Position {
    std::uint64_t begin = 0;  // the next word of this message
    std::uint64_t next = 0;   // where the next message begins
    std::uint64_t read = 0;   // messages begun to be read
    bool ended = true;        // the tail of this one has been read, or there has been none
  };

  void put(const Word& word, bool tail) noexcept { queue_[end_++ % queue_words] = {word, tail}; }
  [[nodiscard]] Word fault() const noexcept {
    return errval_of({.count = parity_faults_,
                      .priority = static_cast<std::uint8_t>(index(priority_)),
                      .ordered = header_.ordered,
                      .argument_count = header_.argcount,
                      .sender = header_.sender});
  }

  const Priority priority_;
  std::uint8_t& parity_faults_;
  std::array<Place, queue_words> queue_{};
  std::array<std::uint8_t, queue_messages> sizes_{};  // by the message's number
  Position now_{};
  std::optional<Position> before_{};  // the last read, in the cycle behind it
  std::uint64_t end_ = 0;             // behind the last word
  std::uint64_t come_ = 0;            // messages begun to come

  unsigned at_ = 0;  // flits of what is coming
  Header header_{};
  bool misled_ = false;  // its header was wrong
};

}  // namespace am::mmachine
