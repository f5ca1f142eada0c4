#include "host/connections.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace am::host {

namespace {

constexpr std::size_t bits = 64;
/// As many as Linux lets a process have, unless it is told otherwise.
constexpr std::size_t most = std::size_t{1} << 20;

/// No memory is behind what is never used.
constinit std::array<std::atomic<std::uint64_t>, most / bits> words{};

// Relaxed: a child sees all that its parent's thread saw, and of what others were doing it may see either.
constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

void add_connection(int descriptor) noexcept {
  const auto number = static_cast<std::size_t>(descriptor);
  if (descriptor >= 0 && number < most)
    words[number / bits].fetch_or(std::uint64_t{1} << number % bits, relaxed);
}

void remove_connection(int descriptor) noexcept {
  const auto number = static_cast<std::size_t>(descriptor);
  if (descriptor >= 0 && number < most)
    words[number / bits].fetch_and(~(std::uint64_t{1} << number % bits), relaxed);
}

void close_connections() noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].load(relaxed) == 0) continue;
    for (std::uint64_t left = words[i].exchange(0, relaxed); left != 0; left &= left - 1)
      close(static_cast<int>(i * bits) + std::countr_zero(left));
  }
}

}  // namespace am::host
