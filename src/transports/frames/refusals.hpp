// The claims that found no room for their frame, since arm() was last taken back: whoever sleeps is to be woken once one of them
// would find some.
#pragma once

#include <am/types.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace am::frames {

class Refusals {
 public:
  void add(NodeId to, Priority priority, std::size_t frame_bytes) {
    const auto same = std::ranges::find_if(
        all_, [&](const Refusal& one) { return one.to == to && one.priority == priority; });
    if (same == all_.end()) {
      all_.push_back({to, priority, frame_bytes});
    } else {
      same->frame_bytes = std::min(same->frame_bytes, frame_bytes);
    }
  }
  void clear() noexcept { all_.clear(); }

  /// Whether has_room(to, priority, frame_bytes) for one.
  template <class HasRoom>
  [[nodiscard]] bool any(HasRoom&& has_room) const {
    return std::ranges::any_of(
        all_, [&](const Refusal& one) { return has_room(one.to, one.priority, one.frame_bytes); });
  }

 private:
  struct Refusal {  // of a link
    NodeId to;
    Priority priority;
    std::size_t frame_bytes;  // the least
  };
  std::vector<Refusal> all_;
};

}  // namespace am::frames
