// What a node knows of another one that it talks to over libfabric.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transports/frames/window.hpp"
#include "transports/ofi/ofi_transport.hpp"

namespace am::ofi {

struct OfiTransport::Claim {
  impl::Packet packet;
  alignas(impl::payload_alignment) std::byte payload[impl::packet_payload_bytes];
  Payload long_payload;  // where it is until commit
};

/// What is being read from a peer's memory, or written there: a move, or the payload of a message.
struct OfiTransport::Transfer : Operation {
  LongMemory::Part part;  // here
  Endpoint::Remote place{};
  std::size_t bytes = 0;
  std::optional<Move> move{};
  Priority priority = Priority::low;  // of a message
  bool is_begun = false;
  bool is_done = false;
};

/// A message that is not to be received yet: its payload, or that of one before it on its link, is not there.
struct OfiTransport::Held {
  Arrivals::Message message;
  Transfer* fetch = nullptr;  // null: it is there
};

struct OfiTransport::Peer {
  /// greeting: a handshake is under way, or will be tried again; proven: the other end knows the key, but has not
  /// said the first word; over: for good.
  enum class State : std::uint8_t { apart, greeting, proven, joined, over };

  explicit Peer(NodeId id) noexcept : node(id) {}

  const NodeId node;
  State state = State::apart;
  bool closed = false;           // core has: nothing is sent there any more, but answers to one that has left
  bool is_to_write = false;      // is in to_write_
  bool is_bid_farewell = false;  // by this node
  bool said_farewell = false;    // to this node
  std::uint64_t closed_ns = 0;   // when core did
  fi_addr_t address = Endpoint::nowhere;

  // letters out
  std::uint64_t seal_out = 0;
  std::uint32_t letters_out = 0;
  Letter* open = nullptr;  // frames go there
  LetterQueue written{};
  LetterQueue greetings{};
  std::size_t followed = 0;  // written or under way, with words of the control lane
  std::array<OutWindow, 2> outward{};
  std::array<std::unique_ptr<Claim>, 2> claims{};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> words{};  // of the control lane, to be written
  std::array<std::list<LongMemory::Part>, 2> read_there{};       // payloads, by the peer
  std::array<std::uint64_t, 2> read_there_until{};               // how many were
  std::optional<std::uint64_t> asked{};        // its last question for the clock, unanswered
  std::optional<std::uint64_t> probed{};       // its last question whether all has come, unanswered
  std::optional<std::uint64_t> last_probed{};  // likewise, answered or not
  std::uint64_t probe = 0;                     // the same of this node's
  std::uint64_t seen = 0;                      // the last answer
  bool asks = false;                           // something was sent since that question

  // its memory
  std::optional<Place> segment{};      // where its segment is; none: it has not said so
  std::size_t moves = 0;               // under way, or to be begun
  std::uint64_t moves_begun = 0;       // so far
  std::uint64_t refused_transfer = 0;  // the last try in which libfabric took none for it

  // letters in
  std::uint64_t seal_in = 0;
  std::uint32_t letters_in = 0;
  std::map<std::uint32_t, std::pair<Block, std::size_t>> early{};  // by number; the size of the text
  std::uint64_t early_bytes = 0;                                   // what they cost (credit_of)
  std::size_t early_at_look = 0;        // how many there were at the last look at the clock
  std::uint32_t vain_looks_at_gap = 0;  // in a row, without an answer
  std::uint32_t looks_at_gap = 0;  // since the last letter that came in its turn, while there are early ones
  std::array<InWindow, 2> inward{};
  std::array<std::list<Held>, 2> held{};
  std::array<std::uint64_t, 2> fetched{};       // payloads
  std::array<std::uint64_t, 2> fetched_told{};  // of these

  // greetings
  std::unique_ptr<trust::Handshake> ours{};  // that this node began
  std::uint64_t retry_ns = 0;                // 0: not to be tried again
  std::uint64_t failing_since_ns = 0;
  std::string failure{};

  [[nodiscard]] bool is_sent_to() const noexcept { return state != State::over && !closed; }
  [[nodiscard]] bool has_newest() const noexcept { return !words.empty() || asked || probed; }
  static constexpr std::size_t most_moves = 8;
  [[nodiscard]] bool takes_moves() const noexcept { return moves < most_moves; }
};

inline OfiTransport::Peer& OfiTransport::peer(NodeId node) {
  return peers_[node] != nullptr ? *peers_[node] : new_peer(node);
}

}  // namespace am::ofi
