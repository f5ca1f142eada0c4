// CMAM's segments: stretches of memory, each with a number of bytes that it awaits. A segment's number is a place in a space of 2
// GiB that all open segments of a node share: so an offset is added to it as to an address, and what lies in no open segment is known.
// Numbers go round: that of a closed segment is not given out again before the space is used up.
//
// Knows no node: whoever calls it keeps handlers off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/code_address.hpp"

namespace am::models::cmam {

struct Segment {
  std::int64_t number = 0;
  std::byte* base = nullptr;
  std::int64_t bytes = 0;
  std::int64_t awaited = 0;
  Code end = nullptr;  ///< end(info, base), where not null
  void* info = nullptr;
};

class Segments {
 public:
  static constexpr std::size_t most = 256;  ///< open at a time

  Segments() { open_.reserve(most); }  // a handler may open one where nothing can be allocated

  /// Its number; -1 where too many are open, or too large ones, or `bytes` is negative.
  int open(void* base, int bytes, Code end, void* info) noexcept;
  /// The one that a number with an offset lies in, or null. Valid until one is opened or closed.
  [[nodiscard]] Segment* find(std::int64_t number) noexcept;
  void close(const Segment& segment) noexcept;

 private:
  static constexpr std::int64_t space = std::int64_t{1} << 31;
  static constexpr std::int64_t alignment = 64;

  [[nodiscard]] std::int64_t place_for(std::int64_t room, std::int64_t from) const noexcept;

  std::vector<Segment> open_;  // by number
  std::int64_t next_ = alignment;
};

}  // namespace am::models::cmam
