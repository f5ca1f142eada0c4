// What a node knows of CMMD's messages: those that it sends and receives, and those that others ask to send it. A receive takes the
// first message asked for that fits it, an ask goes to the first receive that it fits: so messages of one node with one tag keep their
// order. Nothing but the question is kept of a message that nobody receives yet: its bytes stay with the sender.
//
// Knows no node: whoever calls it keeps handlers off.
#pragma once

#include <am/types.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/cmam/rports.hpp"
#include "models/code_address.hpp"

namespace am::models::cmam {

/// One message, sent or received: what a program names by a CMMD_mcb.
struct Message {
  enum class Stage : std::uint8_t { unused, waits, done };
  Stage stage = Stage::unused;
  bool sends = false;
  bool given_back = false;  ///< nobody names it any more: its end is the end of it
  bool cut = false;         ///< it was longer than the receiver's buffer
  int number = 0;
  int peer = 0;                 ///< of a receive, until it is matched: as it was asked for
  int tag = 0;                  ///< likewise
  std::uint32_t theirs = 0;     ///< its number at the other node
  std::int64_t room = 0;        ///< of the buffer
  std::int64_t bytes = 0;       ///< that travel, as far as it is known
  std::int64_t awaited = 0;     ///< of a receive that is matched
  Rport place;                  ///< the buffer
  std::vector<std::byte> copy;  ///< of what is sent, where the program's buffer is not relied on
  Code handler = nullptr;
  void* argument = nullptr;
};

/// A message that another node would send.
struct Ask {
  NodeId from = 0;
  int tag = 0;
  std::uint32_t number = 0;  ///< there
  std::int64_t bytes = 0;
};

class Exchange {
 public:
  static constexpr int any =
      -1;  ///< as a node, or a tag: which does not mean the library's own tags, below 0
  static constexpr int swap_tag = -2;  ///< CMMD_swap has no tag

  Exchange();

  /// A new one, or null where there is none and memory may not be taken. What ended before gives its memory back.
  Message* begin(bool may_allocate);
  /// The one of this number, or null.
  [[nodiscard]] Message* find(std::int64_t number) noexcept;
  void release(Message& message) noexcept;
  /// A message that was begun is under way, and then not any more.
  void starts(const Message& message) noexcept { ++under_way_[message.sends ? 1 : 0]; }
  void ends(Message& message) noexcept {
    message.stage = Message::Stage::done;
    --under_way_[message.sends ? 1 : 0];
  }
  [[nodiscard]] bool sends_are_done() const noexcept { return under_way_[1] == 0; }
  [[nodiscard]] bool receives_are_done() const noexcept { return under_way_[0] == 0; }

  /// The first message that others ask to send and that a receive of `node` and `tag` takes.
  [[nodiscard]] const Ask* asked(int node, int tag) const noexcept;
  [[nodiscard]] std::optional<Ask> take_asked(int node, int tag) noexcept;
  /// The first receive that takes it, which waits no more for one.
  Message* take_receive(const Ask& ask) noexcept;
  /// Whether there is room for one without taking memory.
  [[nodiscard]] bool has_room_for_ask() const noexcept { return asked_.size() < asked_.capacity(); }
  void keep(const Ask& ask) { asked_.push_back(ask); }
  void keep(const Message& receive) { posted_.push_back(receive.number); }
  /// A receive that is not matched waits no more.
  void withdraw(const Message& receive) noexcept;

  // -- what calls without a message's number tell of
  Ask received;  ///< the last one: who, tag, how many bytes
  std::int64_t sent_bytes = 0;
  int error = 0;

 private:
  void grow();
  void reclaim();

  std::deque<Message> messages_;     // by number, from 1 on; handlers are given their addresses
  std::vector<int> unused_, spent_;  // spent: whose copy is still to be freed, which a handler cannot do
  std::vector<int> posted_;          // receives that no message has come for, in order
  std::vector<Ask> asked_;           // in order
  std::int64_t under_way_[2] = {};
};

}  // namespace am::models::cmam
