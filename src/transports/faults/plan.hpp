// What AM_FAULTS asks for: `seed=7,refuse=0.1,delay=0.05,reorder=0.2,kill=1@1000`, each part at most once, in any order.
// Pure functions, any thread.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace am::faults {

/// The process of `node` kills itself in its `commit`-th commit, counted from 1.
struct Kill {
  NodeId node = 0;
  std::uint64_t commit = 0;
};

struct Plan {
  std::uint64_t seed = 1;
  double refuse = 0;   ///< probability that a claim is answered `again` although there may be room
  double delay = 0;    ///< probability that a packet is held back for some rounds
  double reorder = 0;  ///< probability that an unordered packet is taken out, and given some rounds later
  std::optional<Kill> kill;

  [[nodiscard]] bool asks_for_something() const noexcept {
    return refuse > 0 || delay > 0 || reorder > 0 || kill.has_value();
  }
};

/// Throws am::Error with the accepted form. The empty text is the empty plan.
[[nodiscard]] Plan parse_plan(std::string_view text);

}  // namespace am::faults
