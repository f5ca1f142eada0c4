// CMAML's receive ports: a buffer, how many bytes are still to come, and what to run then. A port is freed by the program, not by
// the last byte. Knows no node: whoever calls it keeps handlers off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/code_address.hpp"

namespace am::models::cmam {

struct Rport {
  bool allocated = false;
  std::byte* buffer = nullptr;
  int awaited = 0;      ///< the byte counter
  int total_bytes = 0;  ///< 0: not said; then no offset is too large
  Code handler = nullptr;
  void* argument = nullptr;
  int element_bytes = 0;  ///< 0: the buffer is one piece
  int element_stride = 0;
  int element_count = 0;

  /// Whether so many bytes are awaited, and lie in the buffer as far as its size was said.
  [[nodiscard]] bool takes(std::int64_t offset, std::size_t bytes) const noexcept;
  /// Puts them where they belong, elements apart.
  void write(std::int64_t offset, std::span<const std::byte> bytes) const noexcept;
};

class Rports {
 public:
  static constexpr int count = 128;

  int allocate() noexcept;                 ///< -1: none is free
  int allocate_this(int number) noexcept;  ///< -1: it is not free, or there is none
  bool free(int number) noexcept;          ///< false: it was not allocated
  [[nodiscard]] int free_ports() const noexcept;
  /// Null where it is not allocated.
  [[nodiscard]] Rport* find(std::int64_t number) noexcept;

 private:
  std::array<Rport, count> ports_{};
};

}  // namespace am::models::cmam
