// What a node keeps about the operations of all nodes that it takes part in: the messages that came before it asked for
// them, and its place in the barrier. The state alone: no network, no waiting. Used by the node's own thread.
#pragma once

#include <am/impl/known_operation.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace am::impl {
class Combine;
}

namespace am::core {

/// What becomes of the values that another node sends: they replace those in `into`, which are as many, or are combined with
/// them (am/collectives.hpp), straight from the message.
struct Destination {
  // NOLINTNEXTLINE(google-explicit-constructor): a place alone is written as itself
  Destination(std::span<std::byte> replaced) : into(replaced) {}
  Destination(std::span<std::byte> combined, const impl::Combine& how, bool theirs_first)
      : into(combined), combine(&how), theirs_come_first(theirs_first) {}
  Destination() = default;

  void take(Payload theirs) const;

  std::span<std::byte> into;
  const impl::Combine* combine = nullptr;  ///< null: replaced
  bool theirs_come_first = false;          ///< in the order of the ids
};

/// Which operation a message belongs to. `sequence` counts the rounds of a node, one for a collective or for each block of a long
/// one, by two: the odd numbers are for those that have a second phase. All nodes count alike, so it tells the third broadcast
/// from the fourth. The rest shows when the nodes do not call the same ones.
struct Round {
  enum class Kind : std::uint16_t { barrier, broadcast, reduce, all_reduce, scan, all_gather };

  std::uint64_t sequence = 0;
  Kind kind = Kind::broadcast;  ///< a barrier is none of messages
  impl::WordOperation op{};     ///< that combines values; none: it has none, or one of the program's own
  NodeId root = 0;
  std::uint64_t bytes = 0;  ///< of the values of a node, all of them

  friend bool operator==(const Round&, const Round&) = default;
};

/// Messages of collectives, by round and sender. At most one of each is of use: a node hears from another once in a round.
/// A second one says the same again (its sender could not tell that the first was on its way); it is kept until its round
/// is over, and dropped.
class Mailbox {
 public:
  enum class Answer { nothing_yet, filled, mismatch };

  explicit Mailbox(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : kept_(memory) {}

  /// A message came: it goes where it is expected, or is kept. Of rounds that are over it is dropped.
  void arrived(const Round& round, NodeId from, Payload data);
  /// Asks for the message of `from` in `round`. `where` must live until answer() is not nothing_yet any more, or forget().
  void expect(const Round& round, NodeId from, const Destination& where);
  [[nodiscard]] Answer answer() const noexcept { return answer_; }
  /// After a mismatch: what came instead.
  [[nodiscard]] const Round& other_round() const noexcept { return other_round_; }
  /// Ends an expectation that nobody waits for any more.
  void forget() noexcept { expected_ = false; }

  [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }
  /// Who has sent a message of that round, of which none is expected, and what he says it is.
  [[nodiscard]] std::optional<std::pair<NodeId, Round>> kept_of(std::uint64_t sequence) const;

 private:
  struct Kept {
    Round round;
    std::pmr::vector<std::byte> data;
  };
  void match(const Round& round, Payload data);

  std::pmr::map<std::pair<std::uint64_t, NodeId>, Kept> kept_;  // by sequence and sender
  bool expected_ = false;
  Round round_{};
  NodeId from_ = 0;
  Destination where_;
  Answer answer_ = Answer::nothing_yet;
  Round other_round_{};
};

class CollectiveState {
 public:
  explicit CollectiveState(std::pmr::memory_resource* memory) : mailbox(memory), by_messages(memory) {}

  Mailbox mailbox;
  std::uint64_t operations =
      0;                       ///< begun: rounds and barriers; by this the network counts them (Synchronizer)
  std::uint64_t sequence = 0;  ///< of the last round begun
  /// Those by messages that some nodes may not have begun, the one under way among them, with their numbers among `operations`.
  std::pmr::vector<std::pair<std::uint64_t, Round>> by_messages;
  std::uint32_t rounds_unanswered = 0;  ///< since one in which every node heard of every other
  std::uint32_t barrier_target = 0;     ///< what the host's counter of arrivals has to reach (barrier.cpp)
  std::uint32_t barriers = 0;           ///< that this node has arrived at
  const char* under_way = nullptr;      ///< the barrier or collective that is (Operation), by name
};

}  // namespace am::core
