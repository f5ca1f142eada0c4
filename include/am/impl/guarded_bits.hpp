// What an am::GuardedPtr is made of: five words, of which all but the offset are authenticated by the last (src/core/memory/guards.hpp).
// Whoever has one may read them; whoever changes one has a pointer that its owner refuses.
#pragma once

#include <am/impl/language.hpp>
#include <am/types.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace am {

/// What a guarded pointer permits. Atomics need both.
enum class Rights : std::uint8_t { read = 1, write = 2, read_write = 3 };

namespace impl {

struct GuardedBits {
  static constexpr unsigned generation_bits = 24;
  static constexpr unsigned slot_bits = 16;
  static constexpr unsigned rights_bits = 2;
  static constexpr unsigned rights_at = generation_bits;
  static constexpr unsigned slot_at = rights_at + rights_bits;
  static constexpr unsigned owner_at = slot_at + slot_bits;
  /// More than a guard has bytes: so a message has room for a length beside its ticket.
  static constexpr std::uint64_t bytes_end = std::uint64_t{1} << 40;
  /// An offset outside every segment.
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  std::uint64_t base = 0;  ///< of the segment, in its owner's address space
  std::uint64_t bytes = 0;
  std::uint64_t name = 0;  ///< owner and 1 (22 bits), slot, rights, generation: 0 is null
  std::uint64_t mac = 0;   ///< of the three above
  std::uint64_t offset = 0;

  [[nodiscard]] static constexpr std::uint64_t name_of(NodeId owner, std::uint64_t slot, Rights rights,
                                                       std::uint64_t generation) noexcept {
    return (std::uint64_t{owner} + 1) << owner_at | slot << slot_at |
           static_cast<std::uint64_t>(rights) << rights_at | generation;
  }
  [[nodiscard]] constexpr bool is_null() const noexcept { return name >> owner_at == 0; }
  /// Of a null pointer: greater than any node.
  [[nodiscard]] constexpr std::uint64_t owner() const noexcept { return (name >> owner_at) - 1; }
  [[nodiscard]] constexpr std::uint64_t slot() const noexcept { return field(slot_at, slot_bits); }
  [[nodiscard]] constexpr Rights rights() const noexcept {
    return static_cast<Rights>(field(rights_at, rights_bits));
  }
  [[nodiscard]] constexpr std::uint64_t generation() const noexcept { return field(0, generation_bits); }

  [[nodiscard]] constexpr bool permits(Rights wanted) const noexcept {
    const auto bits = static_cast<unsigned>(wanted);
    return (static_cast<unsigned>(rights()) & bits) == bits;
  }
  [[nodiscard]] constexpr bool holds(std::uint64_t wanted_bytes) const noexcept {
    return wanted_bytes <= bytes && offset <= bytes - wanted_bytes;
  }

  /// `count` steps of `step` bytes further. What leaves the segment and its end points nowhere from then on, as an address that crosses
  /// a segment's boundary becomes an ErrVal in the M-Machine.
  [[nodiscard]] constexpr GuardedBits moved(std::ptrdiff_t count, std::size_t step) const noexcept {
    GuardedBits to = *this;
    const auto steps = static_cast<std::uint64_t>(count);
    if (offset > bytes) {
      to.offset = nowhere;
    } else if (count >= 0) {
      to.offset = steps <= (bytes - offset) / step ? offset + steps * step : nowhere;
    } else {
      to.offset = 0 - steps <= offset / step ? offset - (0 - steps) * step : nowhere;
    }
    return to;
  }

  friend constexpr bool operator==(const GuardedBits&, const GuardedBits&) noexcept = default;

 private:
  [[nodiscard]] constexpr std::uint64_t field(unsigned at, unsigned bits) const noexcept {
    return name >> at & ((std::uint64_t{1} << bits) - 1);
  }
};

}  // namespace impl
}  // namespace am
