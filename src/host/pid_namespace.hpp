// In which PID namespace (container) a process is: its number means that process there, and another one, or none, elsewhere.
// Who uses the number of another process, to signal it or to look it up, asks first.
#pragma once

#include <cstdint>

namespace am::host {

/// Names it; 0 where the system does not tell (no /proc).
[[nodiscard]] std::uint64_t own_pid_namespace() noexcept;

/// Whether processes of both know each other by the same numbers. Nobody knows better of one that is not told.
[[nodiscard]] constexpr bool same_pid_namespace(std::uint64_t a, std::uint64_t b) noexcept {
  return a == b || a == 0 || b == 0;
}

}  // namespace am::host
