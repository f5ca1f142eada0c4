// The clock of a job, CLOCK_MONOTONIC: all its processes read the same, and the kernel's sleeps count on it.
#pragma once

#include <cstdint>
#include <ctime>

namespace am::host {

inline constexpr std::uint64_t second_ns = 1'000'000'000;

[[nodiscard]] constexpr std::uint64_t ns_of(timespec time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * second_ns + static_cast<std::uint64_t>(time.tv_nsec);
}
[[nodiscard]] constexpr timespec timespec_of(std::uint64_t ns) noexcept {
  return {static_cast<std::time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
}

[[nodiscard]] inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ns_of(now);
}

}  // namespace am::host
