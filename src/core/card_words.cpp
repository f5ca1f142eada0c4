#include "core/card_words.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace am::core {

namespace {

// Word by word: somebody may be reading.
constexpr std::size_t wait_words = std::extent_v<decltype(shm::NodeCard::waiting_for)>;
using WaitText = std::array<char, wait_words * sizeof(std::uint64_t)>;

}  // namespace

void publish_wait(shm::NodeCard& card, std::string_view what, std::uint64_t since) noexcept {
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

bool describe_wait(TextOut& out, const shm::NodeCard& card, std::uint64_t now) {
  const std::uint64_t since = card.waiting_since_ns.load(std::memory_order_relaxed);
  if (since == 0) return false;
  WaitText text;
  for (std::size_t i = 0; i < wait_words; ++i) {
    const std::uint64_t word = card.waiting_for[i].load(std::memory_order_relaxed);
    std::memcpy(text.data() + i * sizeof word, &word, sizeof word);
  }
  out << "waited ";
  describe_ms(out, now > since ? now - since : 0);
  out << " in " << std::string_view(text.data(), strnlen(text.data(), text.size()));
  return true;
}

void describe_ms(TextOut& out, std::uint64_t ns) { out << ns / 1'000'000 << " ms"; }

std::string_view handler_name(const shm::Segment& segment, std::size_t handler) noexcept {
  if (handler >= shm::max_handlers) return {};
  const shm::HandlerName& name = segment.handler_name(handler);
  return {name.text, strnlen(name.text, sizeof name.text)};
}

}  // namespace am::core
