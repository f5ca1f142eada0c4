// The handlers of `ambench dispatch`, and what they share with the two programs. Words that a program looks at while it
// computes are atomic; relaxed, for they order nothing.

#pragma once

#include <am/am.hpp>

#include <atomic>
#include <cstdint>

#include "clock.hpp"
#include "dispatch/arrangement.hpp"

namespace ambench::dispatching {

struct State {
  // The receiver's.
  std::atomic<bool> stopped{false};
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> first_ticks{0};  // of a burst: when it was sent
  std::atomic<std::uint64_t> last_ticks{0};   // when its last handler so far began
  int offered_process = 0;                    // whose memory the limit of a wake is measured in (FutexPair)
  int offered_file = 0;

  void ask(am::Request& request, std::uint64_t sent) {
    const std::uint64_t started = ticks();
    request.reply<&State::answer>(sent, started, ticks());
  }
  void take(am::Request&, std::uint64_t sent) {
    const std::uint64_t started = ticks();
    const std::uint64_t before = taken.load(std::memory_order_relaxed);
    if (before == 0) first_ticks.store(sent, std::memory_order_relaxed);
    last_ticks.store(started, std::memory_order_relaxed);
    taken.store(before + 1, std::memory_order_relaxed);
  }
  void offer(am::Request&, std::uint64_t process, std::uint64_t file) {
    offered_process = static_cast<int>(process);
    offered_file = static_cast<int>(file);
  }
  void stop(am::Request&) { stopped.store(true, std::memory_order_relaxed); }

  // The sender's, which polls: plain.
  std::uint64_t answers = 0;
  std::uint64_t there_ticks = 0;  // of the last: from before the send to the handler
  std::uint64_t back_ticks = 0;   // from before the reply to its handler
  std::uint64_t round_ticks = 0;
  bool told = false;

  void answer(am::Reply&, std::uint64_t sent, std::uint64_t started, std::uint64_t replied) {
    const std::uint64_t now = ticks();
    there_ticks = started - sent;
    back_ticks = now - replied;
    round_ticks = now - sent;
    ++answers;
  }
  void tell(am::Request&) { told = true; }
};

// What the two nodes of one job know.
struct Roles {
  am::Node& node;
  State& state;
  const Arrangement& arrangement;
  Places places;
};

// The sender is node 0. Both take the same steps in the same order, each begun by a barrier. They throw std::runtime_error
// when the other does not answer within `patience_ns`.
void run_sender(const Roles& roles);
void run_receiver(const Roles& roles);

inline constexpr double patience_ns = 20e9;
inline constexpr double scenario_ns = 40e6;        // how long a scenario is sampled
inline constexpr std::size_t least_samples = 200;  // and at least so many: 99 of 100 are not all of them
inline constexpr int wake_rounds = 14;  // of libam's wakes, the futex's and the futex's with a time limit
inline constexpr int wakes = 15;        // in a row
inline constexpr double steady_period_us = 20;  // of messages, for occupancy
inline constexpr double steady_ns = 6e6;        // how long without and with messages, in each round
inline constexpr int steady_rounds = 8;
inline constexpr std::uint64_t burst = 1000;
inline constexpr int bursts = 10;

}  // namespace ambench::dispatching
