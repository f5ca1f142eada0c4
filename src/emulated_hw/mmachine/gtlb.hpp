// The M-Machine's global translation lookaside buffer: which node holds a virtual address. Four entries, each of which spreads a part
// of the address space over a rectangle of nodes, 2^n pages at a time; a program's messages go by addresses, and only where an entry says.
//
// What the thesis leaves open. The computation in 4.2.2 shifts an address by the pages per node, and tags have 42 bits: so what it
// shifts and compares is the number of a page. A 54-bit address has 43 bits of that: the highest is not compared. (It names yoffset
// twice; the second is xoffset.) Of several entries that match the first counts.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.1, 4.2.2, Figures 3-5 and 3-6.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace am::mmachine {

/// A node's place in the mesh, each of 5 bits.
struct NodePlace {
  std::uint8_t x = 0;
  std::uint8_t y = 0;

  friend constexpr bool operator==(const NodePlace&, const NodePlace&) = default;
};
/// For people: "[3, 2]".
[[nodiscard]] std::string to_text(NodePlace place);

class Gtlb {
 public:
  static constexpr unsigned entries = 4;
  static constexpr unsigned page_bits = 11;  ///< of an address: its byte in the page

  /// As a program writes it; what does not fit a field is cut off, as its wires do.
  struct Entry {
    bool valid = false;
    NodePlace base{};             ///< the corner of the rectangle
    std::uint8_t log_width = 0;   ///< its extents, 3 bits each
    std::uint8_t log_height = 0;  ///<
    std::uint8_t log_pages = 0;   ///< on a node, before the next one's: 6 bits
    std::uint64_t tag = 0;        ///< of the numbers of pages that it holds, 42 bits
    std::uint64_t mask = 0;       ///< which bits of these count

    friend constexpr bool operator==(const Entry&, const Entry&) = default;
  };

  /// Where an address is, and which entry says so.
  struct Found {
    NodePlace node;
    unsigned entry;

    friend constexpr bool operator==(const Found&, const Found&) = default;
  };
  /// None: a miss, which an event handler resolves (3.3.1).
  [[nodiscard]] std::optional<Found> translate(std::uint64_t address) const noexcept;

  [[nodiscard]] const Entry& read(unsigned index) const noexcept { return entries_[index % entries]; }
  void write(unsigned index, const Entry& entry) noexcept;

  /// An entry as IGTRD gives it, and IGTWR takes it behind its first word: two words (the tables in 4.2.2).
  using Words = std::array<std::uint64_t, 2>;
  [[nodiscard]] static Words words_of(const Entry& entry) noexcept;
  [[nodiscard]] static Entry entry_of(const Words& words) noexcept;

 private:
  std::array<Entry, entries> entries_{};
};

}  // namespace am::mmachine
