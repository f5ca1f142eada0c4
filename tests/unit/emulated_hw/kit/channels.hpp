// Channels that wait for each other: of each, which ones a packet may wait for that has it. A circle of them would be a deadlock.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "emulated_hw/kit/ports.hpp"

namespace am::kit::test_channels {

using Channel = std::tuple<RouterNumber, unsigned, unsigned>;  // router, port, class
using Waits = std::map<Channel, std::set<Channel>>;

inline bool has_circle(const Waits& waits) {
  std::set<Channel> on_the_way, done;
  const std::function<bool(const Channel&)> in_a_circle = [&](const Channel& channel) {
    if (done.contains(channel)) return false;
    if (!on_the_way.insert(channel).second) return true;
    if (const auto found = waits.find(channel); found != waits.end()) {
      for (const Channel& next : found->second) {
        if (in_a_circle(next)) return true;
      }
    }
    on_the_way.erase(channel);
    done.insert(channel);
    return false;
  };
  for (const auto& [channel, others] : waits) {
    if (in_a_circle(channel)) return true;
  }
  return false;
}

}  // namespace am::kit::test_channels
