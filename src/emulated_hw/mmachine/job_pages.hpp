// How a job's messages find their nodes on the M-Machine: each node has a page of the virtual address space, and the GTLB of each says
// where that is. The nodes of a mesh of any extents are spread over rectangles whose sides are powers of two, one for each entry that
// the system may write: a mesh of 4 x 8 is one, one of 3 x 3 four, one of 7 x 7 nine, for which the four entries are too few.
//
// A miss is resolved at once by the system's handler, which writes the entry over the one that was written longest ago, and sends again
// (3.3.1, 4.2.3).
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.1, 4.2.2, 4.2.3, Figures 3-5 and 3-6.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "emulated_hw/mmachine/gtlb.hpp"

namespace am::mmachine {

/// The pages of a job, the same on all nodes: what the system knows.
class JobPages {
 public:
  /// Of rows x columns nodes, numbered along rows; each up to 32.
  JobPages(unsigned rows, unsigned columns) : addresses_(std::size_t{rows} * columns) {
    for (const Side& y : sides_of(rows)) {
      for (const Side& x : sides_of(columns)) {
        const std::uint64_t first_page = entries_.size() << rectangle_bits;
        const unsigned pages = 1u << (x.log + y.log);
        for (unsigned page = 0; page < pages; ++page) {
          const unsigned column = x.begin + (page & ((1u << x.log) - 1));
          const unsigned row = y.begin + (page >> x.log);
          addresses_[std::size_t{row} * columns + column] = (first_page + page) << Gtlb::page_bits;
        }
        entries_.push_back({.valid = true,
                            .base = {static_cast<std::uint8_t>(x.begin), static_cast<std::uint8_t>(y.begin)},
                            .log_width = x.log,
                            .log_height = y.log,
                            .tag = first_page,
                            .mask = ~std::uint64_t{pages - 1}});
      }
    }
  }

  /// The address of that node's page.
  [[nodiscard]] std::uint64_t address_of(std::uint32_t node) const noexcept { return addresses_[node]; }
  /// What translates an address of one of them.
  [[nodiscard]] const Gtlb::Entry& entry_for(std::uint64_t address) const noexcept {
    return entries_[address >> Gtlb::page_bits >> rectangle_bits];
  }
  [[nodiscard]] std::size_t entries() const noexcept { return entries_.size(); }

 private:
  static constexpr unsigned rectangle_bits = 10;  // of a page's number: where it is in its rectangle

  /// A piece of an extent.
  struct Side {
    unsigned begin;
    std::uint8_t log;
  };

  /// The largest powers of two first.
  static std::vector<Side> sides_of(unsigned extent) {
    std::vector<Side> sides;
    for (unsigned begin = 0; begin < extent;) {
      const auto log = static_cast<std::uint8_t>(std::bit_width(extent - begin) - 1);
      sides.push_back({begin, log});
      begin += 1u << log;
    }
    return sides;
  }

  std::vector<std::uint64_t> addresses_;
  std::vector<Gtlb::Entry> entries_;
};

/// A node's own: its GTLB, and the handler of its misses.
class Translation {
 public:
  explicit Translation(const JobPages& pages) noexcept : pages_(pages) {}

  [[nodiscard]] NodePlace place_of(std::uint32_t node) noexcept {
    const std::uint64_t address = pages_.address_of(node);
    if (const auto found = gtlb_.translate(address)) return found->node;
    ++misses_;
    gtlb_.write(oldest_, pages_.entry_for(address));
    oldest_ = (oldest_ + 1) % Gtlb::entries;
    return gtlb_.translate(address)->node;
  }
  [[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }

 private:
  const JobPages& pages_;
  Gtlb gtlb_{};
  unsigned oldest_ = 0;  // entry
  std::uint64_t misses_ = 0;
};

}  // namespace am::mmachine
