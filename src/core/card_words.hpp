// What stands on a node's card, for whoever tells people of it: where the node stands, what it waits for and since when.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <string_view>

#include "core/text_out.hpp"
#include "transports/shm/segment.hpp"

namespace am::core {

[[nodiscard]] inline shm::Standing standing_of(const shm::NodeCard& card) noexcept {
  return static_cast<shm::Standing>(card.standing.load(std::memory_order_acquire));
}

/// The node waits for `what` since then, a Count; 0: it does not wait any more.
void publish_wait(shm::NodeCard& card, std::string_view what, std::uint64_t since) noexcept;

/// "waited 12 ms in barrier", for a node that waits; nothing, and false, for another. `now` is a Count. Both words are read
/// one after the other: a node that begins another wait just then may be said to wait in that one for the time of this.
bool describe_wait(TextOut& out, const shm::NodeCard& card, std::uint64_t now);

void describe_ms(TextOut& out, std::uint64_t ns);

/// A handler's name, or "" for one without.
[[nodiscard]] std::string_view handler_name(const shm::Segment& segment, std::size_t handler) noexcept;

}  // namespace am::core
