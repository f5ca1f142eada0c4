// When a network that has to ask looks for what has come: in every round while there was traffic lately; now and then else, and
// while messages that have come wait to be run.
#pragma once

#include <cstdint>

#include "host/clock.hpp"

namespace am::frames {

class Looks {
 public:
  /// Whether it is time for one. `writes`: something is to be written; `runs`: messages that have come wait to be run.
  [[nodiscard]] bool are_due(bool writes, bool runs) noexcept {
    if (!runs && (writes || !are_vain())) return true;
    const std::uint64_t now = host::monotonic_ns();
    if (now - last_ns_ < (runs ? busy_ns : quiet_ns)) return false;
    last_ns_ = now;
    return true;
  }
  void looked(bool found) noexcept { in_vain_ = found ? 0 : in_vain_ + 1; }
  /// There may be traffic again.
  void resume() noexcept { in_vain_ = 0; }
  /// There was no traffic lately.
  [[nodiscard]] bool are_vain() const noexcept { return in_vain_ >= quiet_looks; }

 private:
  static constexpr std::uint32_t quiet_looks = 256;
  static constexpr std::uint64_t quiet_ns = 2'000;  // one in so long
  static constexpr std::uint64_t busy_ns = 20'000;

  std::uint32_t in_vain_ = 0;  // since there was traffic
  std::uint64_t last_ns_ = 0;  // while it looks now and then
};

}  // namespace am::frames
