// What stands on a node's card, for whoever tells people of it: what the node waits for and since when, and what may not
// run meanwhile.
#pragma once

#include <am/impl/event_state.hpp>
#include <am/types.hpp>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/reports/text_out.hpp"
#include "host/board.hpp"

namespace am::core {

/// A counter on a card, which its node changes meanwhile.
inline std::uint64_t value(const std::atomic<std::uint64_t>& counter) noexcept {
  return counter.load(std::memory_order_relaxed);
}

/// The node waits for `what` since then, a Count; 0: it does not wait any more.
void publish_wait(host::NodeCard& card, std::string_view what, std::uint64_t since) noexcept;

/// What a node in this state holds off, as a word for its card; 0: nothing.
[[nodiscard]] std::uint32_t held_off_word(const impl::EventState& events) noexcept;
/// "; high messages are masked here", and what else such a word says; nothing for 0. `where` is "here" or "there".
void describe_held_off(TextOut& out, std::uint32_t word, std::string_view where);

/// "waited 12 ms in barrier; high messages are masked there", for a node that waits; nothing, and false, for another. `now` is
/// a Count. The words are read one after the other: a node that begins another wait just then may be said to wait in that one
/// for the time of this.
bool describe_wait(TextOut& out, const host::NodeCard& card, std::uint64_t now);
/// ", for node 3", where the node has said that this one alone can end its wait.
void describe_needed(TextOut& out, const host::NodeCard& card);
/// The same of a node that runs something meanwhile, which says more: " (in barrier, for 12 ms)".
void describe_call(TextOut& out, const host::NodeCard& card, std::uint64_t now);

/// "has left the job", and its exit code where amrun has told that this was not 0.
void describe_leaving(TextOut& out, const host::NodeCard& card);

void describe_ms(TextOut& out, std::uint64_t ns);

}  // namespace am::core
