// Bytes that tell where they were and what for; and copies between ranges that overlap.
#pragma once

#include <cstring>
#include <initializer_list>
#include <vector>

#include "support/check.hpp"
#include "support/random.hpp"

namespace test {

inline std::byte pattern(std::size_t i, std::integral auto salt) {
  return static_cast<std::byte>(mix(static_cast<std::uint64_t>(salt) + 1, i));
}
inline std::vector<std::byte> patterned(std::size_t bytes, std::integral auto salt) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(i, salt);
  return data;
}
/// How many bytes are as they should be before the first that is not; what lies at `data` was so far behind the beginning.
inline std::size_t right_bytes(const void* data, std::size_t bytes, std::integral auto salt,
                               std::size_t behind = 0) {
  std::size_t i = 0;
  while (i != bytes && static_cast<const std::byte*>(data)[i] == pattern(behind + i, salt)) ++i;
  return i;
}
inline bool is_patterned(const void* data, std::size_t bytes, std::integral auto salt,
                         std::size_t behind = 0) {
  return right_bytes(data, bytes, salt, behind) == bytes;
}

/// copy(to, from, bytes) leaves memory as memmove does: between ranges that are the same, or a little or nearly all apart, both ways.
template <class Copy>
void check_copies(std::initializer_list<int> sizes, Copy copy, std::string_view what) {
  for (const int bytes : sizes) {
    for (const int apart : {0, 1, 20, bytes - 1}) {
      for (const bool upwards : {true, false}) {
        const auto size = static_cast<std::size_t>(bytes);
        std::vector<std::byte> memory = patterned(size + static_cast<std::size_t>(apart) + 2, bytes);
        std::vector<std::byte> expected = memory;
        const auto from = static_cast<std::size_t>(upwards ? 1 : 1 + apart);
        const auto to = static_cast<std::size_t>(upwards ? 1 + apart : 1);
        std::memmove(&expected[to], &expected[from], size);
        copy(&memory[to], &memory[from], bytes);
        check(memory == expected, what);
      }
    }
  }
}

}  // namespace test
