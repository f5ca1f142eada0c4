// Payloads of an emulated network that are too long for a window, where its messages are of any size: each is one, in a chunk
// (transports/chunks.hpp) that its packet names. The packet's lines in the window are one.
//
// Used by the owning node's thread only.
#pragma once

#include <am/impl/link.hpp>
#include <am/types.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/zeroed_array.hpp"
#include "transports/chunks.hpp"
#include "transports/emulated/windows.hpp"
#include "transports/transport.hpp"

namespace am::emulated {

class WindowChunks {
 public:
  WindowChunks(const Windows& windows, NodeId self)
      : windows_(windows),
        chunks_{Chunks(windows, self, Priority::low), Chunks(windows, self, Priority::high)},
        claimed_(impl::link_count(windows.nodes())) {}

  /// What was claimed last and not committed is given back.
  void forget(NodeId to, Priority priority) noexcept;
  /// Fills in where the payload goes: a chunk; or nothing while there is none, and one is under way there, which will come back. False: lines
  /// have to do, since no link waits for what another one has.
  [[nodiscard]] bool take(Transport::Slot& slot, std::size_t payload_bytes) noexcept;
  void give_back(const Transport::Slot& slot) noexcept { of(slot.priority).give_back(name_of(slot)); }
  void is_claimed(const Transport::Slot& slot) noexcept {
    claimed_[impl::link_index(slot.to, slot.priority)] = name_of(slot);
  }
  /// Of a slot that may have one; its packet ends there in the ring.
  void sent(const Transport::Slot& slot, std::uint64_t position) noexcept;
  /// Whether take() would not have to wait.
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
    Chunks& from = of(priority);
    return from.has_room(to, Chunks::bytes_for(payload_bytes)) || !from.any_sent(to);
  }
  void close(NodeId peer) noexcept;
  /// Of a packet that has come.
  [[nodiscard]] std::optional<Payload> payload_of(const Transport::View& view) const noexcept;

 private:
  [[nodiscard]] Chunks& of(Priority priority) noexcept { return chunks_[static_cast<std::size_t>(priority)]; }
  static Chunks::Name name_of(const Transport::Slot& slot) noexcept {
    return static_cast<Chunks::Name>(impl::Header{slot.mark}.place());
  }

  const Windows& windows_;
  std::array<Chunks, 2> chunks_;             // by priority
  host::ZeroedArray<Chunks::Name> claimed_;  // by link
};

}  // namespace am::emulated
