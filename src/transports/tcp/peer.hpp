// What a node knows of another one that it talks to over TCP.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transports/frames/frames.hpp"
#include "transports/frames/window.hpp"
#include "transports/tcp/frame_reader.hpp"
#include "transports/tcp/out_queue.hpp"
#include "transports/tcp/tcp_transport.hpp"

namespace am::tcp {

struct TcpTransport::Claim {
  impl::Packet packet;
  alignas(impl::payload_alignment) std::byte payload[impl::packet_payload_bytes];
  Payload long_payload;  // where it is until commit
};

struct TcpTransport::Peer {
  /// calling: no connection yet, but it is under way or will be tried again; proven: the other end knows the key, but has not
  /// said that this connection is the one; over: for good.
  enum class State : std::uint8_t { apart, calling, proven, joined, over };

  explicit Peer(NodeId id) noexcept : node(id) {}

  const NodeId node;
  State state = State::apart;
  bool closed = false;         // core has: nothing is sent there any more
  bool said_farewell = false;  // the other did
  bool is_to_write = false;    // is in to_write_
  bool socket_is_full = false;
  bool in_events = false;     // epoll tells of its socket
  bool cannot_write = false;  // what is there may still be read
  Stream stream{};
  FrameReader reader{};
  OutQueue out{};
  std::array<OutWindow, 2> outward{};
  std::array<InWindow, 2> inward{};
  std::array<std::uint32_t, 2>
      to_be_placed{};  // messages that came and were not released, but those whose payload was placed
  std::array<std::unique_ptr<Claim>, 2> claims{};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> words{};  // of the control lane, to be written
  std::optional<std::uint64_t> asked{};  // its last question for the clock, unanswered
  std::size_t up_to_last_word = 0;       // bytes of `out`
  std::uint64_t retry_ns = 0;
  std::uint64_t calling_since_ns = 0;
  std::uint64_t called_ns = 0;  // last
  std::uint32_t addresses = 0;  // how many it has told
  std::uint32_t calls = 0;      // says which of these is next
  std::uint64_t hopeless = 0;   // of these, by bits
  std::uint32_t drops = 0;      // in a row
  Socket sign_of_life{};        // that its host is asked for, when nobody answers
  std::string called{};         // where, in the last attempt
  std::string failure{};        // of that

  void say(const Frame& frame) { write_frame(out.add(frame_bytes(frame)), frame); }
  [[nodiscard]] bool is_sent_to() const noexcept { return state != State::over && !closed && !cannot_write; }
  void written(std::size_t bytes) noexcept {
    out.written(bytes);
    up_to_last_word -= std::min(up_to_last_word, bytes);
  }
};

inline TcpTransport::Peer& TcpTransport::peer(NodeId node) {
  return peers_[node] != nullptr ? *peers_[node] : new_peer(node);
}

}  // namespace am::tcp
