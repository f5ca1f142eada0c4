#include "core/reports/card_words.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace am::core {

namespace {

// Word by word: somebody may be reading.
constexpr std::size_t wait_words = std::extent_v<decltype(host::NodeCard::waiting_for)>;
using WaitText = std::array<char, wait_words * sizeof(std::uint64_t)>;

// Bits of the word of what is held off. The lowest are the masks, by Event.
constexpr std::uint32_t section = 1U << 4;
constexpr std::uint32_t low_disabled = 1U << 5;
constexpr std::uint32_t by_default_handler = 1U << 6;

struct Wait {
  std::uint64_t ns;
  WaitText text;
  [[nodiscard]] std::string_view what() const noexcept {
    return {text.data(), strnlen(text.data(), text.size())};
  }
};

/// The wait that a card tells of, if any.
std::optional<Wait> wait_on(const host::NodeCard& card, std::uint64_t now) noexcept {
  const std::uint64_t since = value(card.waiting_since_ns);
  if (since == 0) return {};
  Wait wait{.ns = now > since ? now - since : 0, .text = {}};
  for (std::size_t i = 0; i < wait_words; ++i) {
    const std::uint64_t word = card.waiting_for[i].load(std::memory_order_relaxed);
    std::memcpy(wait.text.data() + i * sizeof word, &word, sizeof word);
  }
  return wait;
}

void describe_held_off_there(TextOut& out, const host::NodeCard& card) {
  describe_held_off(out, card.held_off.load(std::memory_order_relaxed), "there");
}

}  // namespace

void publish_wait(host::NodeCard& card, std::string_view what, std::uint64_t since) noexcept {
  if (since != 0) {
    WaitText text{};
    what.copy(text.data(), text.size() - 1);
    for (std::size_t i = 0; i < wait_words; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i * sizeof word, sizeof word);
      card.waiting_for[i].store(word, std::memory_order_relaxed);
    }
  }
  card.waiting_since_ns.store(since, std::memory_order_relaxed);
}

bool describe_wait(TextOut& out, const host::NodeCard& card, std::uint64_t now) {
  const auto wait = wait_on(card, now);
  if (!wait) return false;
  out << "waited ";
  describe_ms(out, wait->ns);
  out << " in " << wait->what();
  describe_needed(out, card);
  describe_held_off_there(out, card);
  return true;
}

void describe_needed(TextOut& out, const host::NodeCard& card) {
  if (const std::uint32_t needed = card.waits_for.load(std::memory_order_relaxed); needed != 0)
    out << ", for node " << needed - 1;
}

void describe_call(TextOut& out, const host::NodeCard& card, std::uint64_t now) {
  const auto wait = wait_on(card, now);
  if (!wait) return;
  out << " (in " << wait->what() << ", for ";
  describe_ms(out, wait->ns);
  describe_held_off_there(out, card);
  out << ")";
}

void describe_leaving(TextOut& out, const host::NodeCard& card) {
  out << "has left the job";
  const int end = card.wait_status.load(std::memory_order_relaxed);
  if (end != host::unknown_end && WIFEXITED(end) && WEXITSTATUS(end) != 0)
    out << " with exit code " << WEXITSTATUS(end);
}

std::uint32_t held_off_word(const impl::EventState& events) noexcept {
  if (events.level == impl::Level::high) return 0;  // nothing runs beside it in any case
  std::uint32_t word = ~std::uint32_t{events.masks} & 0b1111U;
  if (!events.ee) word |= section;
  if (!events.lpee && events.level == impl::Level::computation) word |= low_disabled;
  if (!events.ame) word |= by_default_handler;
  return word;
}

void describe_held_off(TextOut& out, std::uint32_t word, std::string_view where) {
  if ((word & section) != 0) out << "; in a critical section: no event runs " << where;
  if ((word & low_disabled) != 0) out << "; low events are disabled " << where;
  constexpr std::array<std::pair<Event, std::string_view>, 4> kinds{
      {{Event::high_message, "high messages are"},
       {Event::low_message, "low messages are"},
       {Event::timelet, "timelets are"},
       {Event::outlet, "the outlet is"}}};
  for (const auto& [kind, subject] : kinds) {
    if ((word >> static_cast<unsigned>(kind) & 1U) != 0) out << "; " << subject << " masked " << where;
  }
  if ((word & by_default_handler) != 0) out << "; active messages are disabled " << where;
}

void describe_ms(TextOut& out, std::uint64_t ns) { out << ns / 1'000'000 << " ms"; }

}  // namespace am::core
