#include "emulated_hw/mmachine/job_pages.hpp"

#include <bit>

namespace am::mmachine {

namespace {

/// A piece of an extent.
struct Side {
  unsigned begin;
  std::uint8_t log;
};

/// The largest powers of two first.
std::vector<Side> sides_of(unsigned extent) {
  std::vector<Side> sides;
  for (unsigned begin = 0; begin < extent;) {
    const auto log = static_cast<std::uint8_t>(std::bit_width(extent - begin) - 1);
    sides.push_back({begin, log});
    begin += 1u << log;
  }
  return sides;
}

}  // namespace

JobPages::JobPages(unsigned rows, unsigned columns) : addresses_(std::size_t{rows} * columns) {
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

const Gtlb::Entry& JobPages::entry_for(std::uint64_t address) const noexcept {
  return entries_[address >> Gtlb::page_bits >> rectangle_bits];
}

NodePlace Translation::place_of(std::uint32_t node) noexcept {
  const std::uint64_t address = pages_.address_of(node);
  if (const auto found = gtlb_.translate(address)) return found->node;
  ++misses_;
  gtlb_.write(oldest_, pages_.entry_for(address));
  oldest_ = (oldest_ + 1) % Gtlb::entries;
  return gtlb_.translate(address)->node;
}

}  // namespace am::mmachine
