// A message of the T1 as it travels (T1 report, 3.1, 3.3, A.6): the header names the destination node and the handler, up to five
// scalar words and a vector of up to 32 follow.
#pragma once

#include <array>
#include <cstdint>

namespace am::t1 {

using Word = std::uint32_t;
using Address = std::uint32_t;  ///< of code or data on a node, in bytes

inline constexpr unsigned most_scalars = 5;     ///< $4 to $7 and $29 (A.1)
inline constexpr unsigned most_vector = 32;     ///< words of a vector register (3.3)
inline constexpr unsigned most_node_bits = 11;  ///< of niid (A.2.10)
inline constexpr unsigned words_per_flit =
    4;  ///< assumed: links as wide as the way to memory, 128 bits (3.2)
inline constexpr unsigned words_of_header =
    2;  ///< assumed: the handler, and in one word the destination, lengths and bits

/// Low is for requests, high for replies (3.5).
enum class Priority : std::uint8_t { low, high };
constexpr unsigned index(Priority priority) noexcept { return static_cast<unsigned>(priority); }
constexpr const char* name_of(Priority priority) noexcept {
  return priority == Priority::high ? "high" : "low";
}

using Vector = std::array<Word, most_vector>;

struct Message {
  std::uint32_t destination = 0;
  Address handler = 0;
  Priority priority = Priority::low;
  bool multicast = false;
  bool kernel = false;       ///< KU_c of the node that sent it (A.6)
  std::uint8_t scalars = 0;  ///< words
  std::uint8_t vector = 0;   ///< words
  std::array<Word, most_scalars> scalar{};
  Vector vector_words{};

  [[nodiscard]] constexpr unsigned flits() const noexcept {
    return (words_of_header + scalars + vector + words_per_flit - 1) / words_per_flit;
  }
};

}  // namespace am::t1
