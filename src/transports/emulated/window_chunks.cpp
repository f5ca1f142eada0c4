#include "transports/emulated/window_chunks.hpp"

#include <am/impl/copy.hpp>
#include <utility>

namespace am::emulated {

void WindowChunks::forget(NodeId to, Priority priority) noexcept {
  Chunks::Name& claimed = claimed_[impl::link_index(to, priority)];
  if (claimed != 0) of(priority).give_back(std::exchange(claimed, Chunks::Name{0}));
}

bool WindowChunks::take(Transport::Slot& slot, std::size_t payload_bytes) noexcept {
  slot.room = Chunks::bytes_for(payload_bytes);
  Chunks& from = of(slot.priority);
  const Chunks::Name chunk = from.take(slot.to, slot.room);
  if (chunk == 0) return from.any_sent(slot.to);
  slot.payload = from.at(chunk);
  slot.mark = impl::Header::make(0, 0, chunk, impl::flag::elsewhere).bits;
  return true;
}

void WindowChunks::sent(const Transport::Slot& slot, std::uint64_t position) noexcept {
  if (!impl::Header{slot.mark}.has(impl::flag::elsewhere)) return;
  of(slot.priority).sent(name_of(slot), position);
  Chunks::Name& claimed = claimed_[impl::link_index(slot.to, slot.priority)];
  if (claimed == name_of(slot)) claimed = 0;
}

void WindowChunks::close(NodeId peer) noexcept {
  for (const Priority priority : {Priority::low, Priority::high}) {
    forget(peer, priority);
    of(priority).close(peer);
  }
}

std::optional<Payload> WindowChunks::payload_of(const Transport::View& view) const noexcept {
  const std::size_t bytes = impl::read_once(view.packet->payload_bytes);
  const std::byte* const chunk =
      Chunks::find(windows_.chunks(view.source, view.priority), view.head.place(), bytes);
  if (chunk == nullptr) return std::nullopt;
  return Payload(chunk, bytes);
}

}  // namespace am::emulated
