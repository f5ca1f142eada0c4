// The event queue of an M-Machine node: what happens in the chip and needs a handler, but nobody waits for at once (4.1, 4.2.3). Here:
// messages whose address the GTLB does not know. The handler reads it word by word, as it does MsgBody; there is no head, and nothing
// stands behind the last word.
//
// An event of a GTLB miss is three words: what kind of message, whose, where its body lies; HandlerIP; DestAddr.
//
//   word 0   unused  ordered  decombc  sclst  stslot  rf  argc  xlate  rtnCC  event type
//   bits                   1        1      2       3   1     4      1      4           4
//
// Assumed: the code of the type; that the queue has 32 words, as the input units have.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 4.1, 4.2.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/fifo.hpp"
#include "emulated_hw/mmachine/word.hpp"

namespace am::mmachine {

/// A message that was not sent, for want of a translation.
struct GtlbMiss {
  static constexpr unsigned words = 3;
  static constexpr std::uint64_t type = 1;

  bool ordered = false;
  bool took_buffer = false;    ///< the counter of outgoing messages was decremented for it
  std::uint8_t cluster = 0;    ///< of the thread that sent it
  std::uint8_t slot = 0;       ///<
  bool floating = false;       ///< where its body lies
  std::uint8_t argcount = 0;   ///< words of it
  std::uint8_t condition = 0;  ///< to be validated when it has been sent
  Word handler{};
  Word destination{};

  [[nodiscard]] constexpr std::array<Word, words> encoded() const noexcept {
    return {Word{type | std::uint64_t{condition & 15u} << 4 | std::uint64_t{1} << 8 |
                     std::uint64_t{argcount & 15u} << 9 | std::uint64_t{floating} << 13 |
                     std::uint64_t{slot & 7u} << 14 | std::uint64_t{cluster & 3u} << 17 |
                     std::uint64_t{took_buffer} << 19 | std::uint64_t{ordered} << 20,
                 false},
            handler, destination};
  }
  /// By its first word.
  [[nodiscard]] static constexpr bool is_ordered(const Word& first) noexcept {
    return (first.bits >> 20 & 1) != 0;
  }
  [[nodiscard]] static constexpr GtlbMiss of(const std::array<Word, words>& event) noexcept {
    const std::uint64_t bits = event[0].bits;
    return {.ordered = is_ordered(event[0]),
            .took_buffer = (bits >> 19 & 1) != 0,
            .cluster = static_cast<std::uint8_t>(bits >> 17 & 3),
            .slot = static_cast<std::uint8_t>(bits >> 14 & 7),
            .floating = (bits >> 13 & 1) != 0,
            .argcount = static_cast<std::uint8_t>(bits >> 9 & 15),
            .condition = static_cast<std::uint8_t>(bits >> 4 & 15),
            .handler = event[1],
            .destination = event[2]};
  }
  friend constexpr bool operator==(const GtlbMiss&, const GtlbMiss&) = default;
};

class EventQueue {
 public:
  static constexpr unsigned queue_words = 32;

  [[nodiscard]] bool has_room() const noexcept { return words_.size() + GtlbMiss::words <= queue_words; }
  /// There is room.
  void put(const GtlbMiss& miss) noexcept {
    for (const Word& word : miss.encoded()) words_.push(word);
  }
  [[nodiscard]] bool is_there() const noexcept { return !words_.empty(); }
  /// An ordered message's is among those that nobody has begun to read.
  [[nodiscard]] bool has_ordered() const noexcept {
    for (std::size_t at = words_.size() % GtlbMiss::words; at < words_.size(); at += GtlbMiss::words) {
      if (GtlbMiss::is_ordered(words_[at])) return true;
    }
    return false;
  }
  /// A word is there.
  Word read() noexcept { return words_.pop(); }

 private:
  kit::Fifo<Word, queue_words> words_;
};

}  // namespace am::mmachine
