// Now and then a node swaps the job's networks out and in, as the gang scheduler of the CM-5 does with those of a partition (von Eicken
// 1993, 3.2.3, 3.5, "Network context"): it freezes them, lets every message fall into memory, and thaws them (emulated_hw/cm5/live_tree.hpp).
// For tests of programs that do not notice (AM_CM5_SWAP).
//
// Used by the owning node's thread only; each node swaps at times of its own.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <random>
#include <span>

#include "emulated_hw/cm5/live_tree.hpp"
#include "host/clock.hpp"

namespace am::emulated {

class NetworkSwaps {
 public:
  /// About every so many ns; 0: never.
  NetworkSwaps(std::uint64_t every_ns, std::uint64_t seed) : every_ns_(every_ns), random_(seed) {
    if (every_ns_ != 0) next_ = host::monotonic_ns() + time_until_next();
  }

  /// Swaps them, where it is time to. What another has frozen too long ago, since he was killed, is thawed in any case.
  void look(std::span<cm5::LiveTree> networks) noexcept {
    if (every_ns_ == 0) return;
    const std::uint64_t now = host::monotonic_ns();
    for (cm5::LiveTree& network : networks) thaw_forgotten(network, now);
    if (now < next_) return;
    for (cm5::LiveTree& network : networks) swap(network, now);
    next_ = host::monotonic_ns() + time_until_next();
  }

 private:
  static constexpr std::uint64_t most_ns = 1'000'000;  ///< that a network stays frozen: assumed

  static void thaw_forgotten(cm5::LiveTree& network, std::uint64_t now) noexcept {
    const std::uint64_t until = network.frozen_until();
    if (until != 0 && until < now) network.thaw(until);
  }
  static void swap(cm5::LiveTree& network, std::uint64_t now) noexcept {
    const std::uint64_t until = now + most_ns;
    if (!network.freeze(until)) return;
    while (!network.fall() && host::monotonic_ns() < until) {
    }
    network.thaw(until);
  }
  [[nodiscard]] std::uint64_t time_until_next() noexcept { return random_() % (2 * every_ns_); }

  const std::uint64_t every_ns_;
  std::mt19937_64 random_;
  std::uint64_t next_ = 0;
};

}  // namespace am::emulated
