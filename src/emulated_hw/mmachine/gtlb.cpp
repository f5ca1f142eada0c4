#include "emulated_hw/mmachine/gtlb.hpp"

#include "emulated_hw/mmachine/bits.hpp"

namespace am::mmachine {

namespace {

constexpr unsigned tag_bits = 42;
constexpr unsigned extent_bits = 3;
constexpr unsigned pages_bits = 6;

constexpr std::uint8_t low_byte(std::uint64_t value, unsigned bits) noexcept {
  return static_cast<std::uint8_t>(low(value, bits));
}

}  // namespace

std::string to_text(NodePlace place) {
  return '[' + std::to_string(place.x) + ", " + std::to_string(place.y) + ']';
}

std::optional<Gtlb::Found> Gtlb::translate(std::uint64_t address) const noexcept {
  const std::uint64_t page = low(address >> page_bits, tag_bits);
  for (unsigned i = 0; i < entries; ++i) {
    const Entry& entry = entries_[i];
    if (!entry.valid || (entry.tag & entry.mask) != (page & entry.mask)) continue;
    const std::uint64_t share = page >> entry.log_pages;
    const std::uint64_t x = low(share, entry.log_width);
    const std::uint64_t y = low(share >> entry.log_width, entry.log_height);
    return Found{{low_byte(entry.base.x + x, place_bits), low_byte(entry.base.y + y, place_bits)}, i};
  }
  return {};
}

void Gtlb::write(unsigned index, const Entry& entry) noexcept {
  entries_[index % entries] = entry_of(words_of(entry));
}

/// The tag with, above it, the base (y over x) and the valid bit; and the mask with the extents (y over x) and the pages per node.
Gtlb::Words Gtlb::words_of(const Entry& entry) noexcept {
  const std::uint64_t base = low(entry.base.y, place_bits) << place_bits | low(entry.base.x, place_bits);
  const std::uint64_t extents =
      low(entry.log_height, extent_bits) << extent_bits | low(entry.log_width, extent_bits);
  const std::uint64_t valid = entry.valid ? 1 : 0;
  return {low(entry.tag, tag_bits) | base << tag_bits | valid << (tag_bits + 2 * place_bits),
          low(entry.mask, tag_bits) | extents << tag_bits |
              low(entry.log_pages, pages_bits) << (tag_bits + 2 * extent_bits)};
}

Gtlb::Entry Gtlb::entry_of(const Words& words) noexcept {
  const std::uint64_t above_tag = words[0] >> tag_bits;
  const std::uint64_t above_mask = words[1] >> tag_bits;
  Entry entry;
  entry.valid = low(above_tag >> 2 * place_bits, 1) != 0;
  entry.base = {low_byte(above_tag, place_bits), low_byte(above_tag >> place_bits, place_bits)};
  entry.log_width = low_byte(above_mask, extent_bits);
  entry.log_height = low_byte(above_mask >> extent_bits, extent_bits);
  entry.log_pages = low_byte(above_mask >> 2 * extent_bits, pages_bits);
  entry.tag = low(words[0], tag_bits);
  entry.mask = low(words[1], tag_bits);
  return entry;
}

}  // namespace am::mmachine
