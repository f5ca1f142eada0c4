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

#include "emulated_hw/mmachine/word.hpp"

namespace am::mmachine {

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
  [[nodiscard]] std::optional<Found> translate(std::uint64_t address) const noexcept {
    const std::uint64_t page = low(address >> page_bits, tag_bits);
    for (unsigned i = 0; i < entries; ++i) {
      const Entry& entry = entries_[i];
      if (!entry.valid || (entry.tag & entry.mask) != (page & entry.mask)) continue;
      const std::uint64_t share = page >> entry.log_pages;
      const std::uint64_t x = low(share, entry.log_width);
      const std::uint64_t y = low(share >> entry.log_width, entry.log_height);
      return Found{{field(entry.base.x + x, 0, place_bits), field(entry.base.y + y, 0, place_bits)}, i};
    }
    return {};
  }

  [[nodiscard]] const Entry& read(unsigned index) const noexcept { return entries_[index % entries]; }
  void write(unsigned index, const Entry& entry) noexcept {
    entries_[index % entries] = entry_of(words_of(entry));
  }

  /// An entry as IGTRD gives it, and IGTWR takes it behind its first word: two words (the tables in 4.2.2).
  using Words = std::array<std::uint64_t, 2>;
  /// The tag with, above it, the base (y over x) and the valid bit; and the mask with the extents (y over x) and the pages per node.
  [[nodiscard]] static Words words_of(const Entry& entry) noexcept {
    const std::uint64_t extents =
        low(entry.log_height, extent_bits) << extent_bits | low(entry.log_width, extent_bits);
    const std::uint64_t valid = entry.valid ? 1 : 0;
    return {low(entry.tag, tag_bits) | nid_of(entry.base) << tag_bits | valid << (tag_bits + 2 * place_bits),
            low(entry.mask, tag_bits) | extents << tag_bits |
                low(entry.log_pages, pages_bits) << (tag_bits + 2 * extent_bits)};
  }
  [[nodiscard]] static Entry entry_of(const Words& words) noexcept {
    const std::uint64_t above_tag = words[0] >> tag_bits;
    const std::uint64_t above_mask = words[1] >> tag_bits;
    Entry entry;
    entry.valid = low(above_tag >> 2 * place_bits, 1) != 0;
    entry.base = place_of(above_tag);
    entry.log_width = field(above_mask, 0, extent_bits);
    entry.log_height = field(above_mask, extent_bits, extent_bits);
    entry.log_pages = field(above_mask, 2 * extent_bits, pages_bits);
    entry.tag = low(words[0], tag_bits);
    entry.mask = low(words[1], tag_bits);
    return entry;
  }

 private:
  static constexpr unsigned tag_bits = 42;
  static constexpr unsigned extent_bits = 3;
  static constexpr unsigned pages_bits = 6;

  std::array<Entry, entries> entries_{};
};

}  // namespace am::mmachine
