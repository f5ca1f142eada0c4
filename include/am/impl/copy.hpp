// How libam copies many bytes. As memcpy, where that is any good: on AMD's Zen 3 and Zen 4 the instruction that memcpy of glibc 2.36 takes
// for 2 KiB to 512 KiB (rep movsb; glibc's bug 30994) needs twenty times as long where the destination lies less than half a line behind
// the source, counted within a page. That is no rare case: what malloc gives of 128 KiB and more begins 16 bytes behind the
// beginning of a page, and shared memory begins there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace am::impl {

/// Whether memcpy may take so long from there to there.
[[nodiscard]] inline bool is_slow_to_copy(const void* into, const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t least = 2048;
  constexpr std::size_t end = std::size_t{1} << 20;  // longer ones go by registers anyway, or past the caches
  constexpr std::uintptr_t page = 4096;
  constexpr std::uintptr_t behind = 32;
  const std::uintptr_t distance =
      (reinterpret_cast<std::uintptr_t>(into) - reinterpret_cast<std::uintptr_t>(from)) % page;
  return bytes - least < end - least && distance - 1 < behind - 1;
}

/// By registers. (Out of line: a compiler that sees it beside a small array would warn of what never happens.)
void copy_by_lines(std::byte* into, const std::byte* from, std::size_t bytes) noexcept;

/// As memcpy.
inline void copy_bytes(void* into, const void* from, std::size_t bytes) noexcept {
  if (is_slow_to_copy(into, from, bytes)) {
    copy_by_lines(static_cast<std::byte*>(into), static_cast<const std::byte*>(from), bytes);
  } else {
    std::memcpy(into, from, bytes);
  }
}

}  // namespace am::impl
