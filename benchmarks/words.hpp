// Data that is written anew before it is sent, and read in full where it arrives: a test that sends the same bytes again and
// again, or does not look at them, moves nothing between two caches and measures less than a program sees.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ambench {

// Writes first, first + 1, ... as 64-bit words; bytes behind the last whole one stay as they are.
inline void write_words(std::span<std::byte> bytes, std::uint64_t first) {
  for (std::size_t at = 0; at + sizeof first <= bytes.size(); at += sizeof first, ++first)
    std::memcpy(&bytes[at], &first, sizeof first);
}

// The sum of all whole 64-bit words.
inline std::uint64_t sum_of_words(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + sizeof sum <= bytes.size(); at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof word);
    sum += word;
  }
  return sum;
}

// What write_words(bytes, first) sums up to.
inline std::uint64_t sum_written(std::size_t bytes, std::uint64_t first) {
  const std::uint64_t words = bytes / sizeof first;
  return words * first + words * (words - 1) / 2;
}

}  // namespace ambench
