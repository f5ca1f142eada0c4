// How a network reaches the global memory of peers without a message that their nodes handle.
#pragma once

#include <am/types.hpp>
#include <cstddef>
#include <cstdint>

namespace am {

class MemoryReach {
 public:
  enum class Way : std::uint8_t {
    mapped,   ///< loads and stores reach it: it is mapped from the host's
    carried,  ///< the same, but each access is for this network to carry there and back (handlers in hardware: T1 report, 3.9)
    moved     ///< the network itself reads and writes it (remote DMA)
  };
  [[nodiscard]] virtual Way way() const noexcept = 0;

  enum class Access : std::uint8_t { store, fetch };

  // What is carried.

  static constexpr std::size_t access_bytes = 1024;  ///< of one, at most
  /// Begins one, or again | unreachable. What is moved core moves: what is stored once this has said ok, what was fetched once it is
  /// done. A store comes before what is sent to that peer at low priority, in order, later.
  [[nodiscard]] virtual Status begin_access(Access /*access*/, NodeId /*peer*/,
                                            std::size_t /*bytes*/) noexcept {
    return Status::unreachable;
  }
  /// How many of all that were begun are done: they are in order. Transport::arm() asks to be told of more, and says no while there are
  /// some of which this has not told.
  [[nodiscard]] virtual std::uint64_t accesses_done(Access /*access*/, NodeId /*peer*/) noexcept { return 0; }

  // Moves: nothing runs at the peer. One is a piece of a put or of a get.

  struct Move {
    Access access = Access::store;
    NodeId peer = 0;
    std::uint64_t offset = 0;  ///< in the peer's segment
    std::size_t bytes = 0;     ///< at most move_bytes
    std::uint64_t ticket = 0;  ///< core's, as the next: it is told both when the move is done (Destinations)
    std::size_t at = 0;
  };
  static constexpr std::size_t move_bytes = 64 * 1024;
  /// The least bytes for which such moves are better than messages; SIZE_MAX: it has none to that peer, for now.
  [[nodiscard]] virtual std::size_t shortest_move(Access /*access*/, NodeId /*peer*/) const noexcept {
    return SIZE_MAX;
  }
  /// Begins one, or again | unreachable; Transport::arm() asks to be told of room. What is stored, from `from`, may be changed once this
  /// has said ok. Moves are in no order, neither among themselves nor with messages.
  [[nodiscard]] virtual Status begin_move(const Move& /*move*/, const std::byte* /*from*/) noexcept {
    return Status::unreachable;
  }

 protected:
  ~MemoryReach() = default;
};

[[nodiscard]] inline bool goes_by(MemoryReach::Way way, const MemoryReach* reach) noexcept {
  return reach != nullptr && reach->way() == way;
}

}  // namespace am
