// A hash of texts that is the same in every process and build: FNV-1a.
#pragma once

#include <cstdint>
#include <string_view>

namespace am::host {

inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325U;

/// That of all texts so far and this one, as if they were one text.
constexpr std::uint64_t hash_on(std::uint64_t so_far, std::string_view text) noexcept {
  for (const char c : text) so_far = (so_far ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return so_far;
}

constexpr std::uint64_t hash_of(std::string_view text) noexcept { return hash_on(hash_of_nothing, text); }

}  // namespace am::host
