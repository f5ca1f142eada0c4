// What `ambench dispatch` varies: how the receiver's handlers run and who has which processor, and what its program does
// meanwhile.

#pragma once

#include <am/types.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "limits/pair.hpp"

namespace ambench::dispatching {

// Names are those of the JSON; labels those of tables.
struct Arrangement {
  std::string_view name;
  std::string_view label;
  am::Dispatch mode;
  bool own_processor;  // of the handler thread
};

inline constexpr std::array<Arrangement, 4> arrangements{{
    {"poll", "poll", am::Dispatch::poll, false},
    {"thread", "thread, processor of its own", am::Dispatch::thread, true},
    {"thread_shared", "thread, processor shared", am::Dispatch::thread, false},
    {"interrupt", "interrupt", am::Dispatch::interrupt, false},
}};

// The handler thread has no processor of its own.
constexpr bool shares_processor(const Arrangement& arrangement) {
  return arrangement.mode == am::Dispatch::thread && !arrangement.own_processor;
}

// nullptr where there is none.
const Arrangement* arrangement_named(std::string_view name);

// Where a job's nodes run. The handler thread takes a processor on which no node does; with two in all, both nodes share
// the first, so that the second is free.
struct Places {
  int sender;
  int receiver;
  [[nodiscard]] bool shared() const { return sender == receiver; }
};

struct Placed {
  const Arrangement& arrangement;
  Places places;
};

// The arrangements that can be had with the nodes on `cores`. A handler thread shares a processor only where each has a node:
// in a machine of two cores.
std::vector<Placed> place_all(CorePair cores, std::size_t machine_cores);

enum class Program { waits, polls_every, computes, sleeps };

struct Scenario {
  std::string_view name;
  std::string_view label;
  Program program;
  double period_us;     // of polls_every
  double least_gap_us;  // between a reply and the next request
  double most_gap_us;
};

inline constexpr double seldom_us = 700;  // asleep for long, and not yet near the end of the first nap

inline constexpr std::array<Scenario, 6> scenarios{{
    {"polls", "polls", Program::waits, 0, 2, 6},
    {"polls_every_us", "computes, polls every 1 us", Program::polls_every, 1, 2, 6},
    {"polls_every_120_us", "computes, polls every 120 us", Program::polls_every, 120, 1, 121},
    {"computes", "only computes", Program::computes, 0, 2, 6},
    {"computes_seldom", "only computes, a message every 0.7 ms", Program::computes, 0, seldom_us, seldom_us},
    {"sleeps", "sleeps in a wait, a message every 0.7 ms", Program::sleeps, 0, seldom_us, seldom_us},
}};

// Where the receiver has to share the sender's processor it does not run while the sender samples: only what a program
// that never polls leaves to its handler thread is measured there. Who only computes is never told in the polling mode.
bool makes_sense(const Arrangement& arrangement, bool shared, const Scenario& scenario);

}  // namespace ambench::dispatching
