// What a node has to do besides its messages: timelets, the outlet, posted work, deaths of peers that the program is to be told
// of. The list alone: who runs what of it when is agenda.cpp's and dispatch.cpp's affair.
//
// Used by whoever is in the node.
#pragma once

#include <am/node.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>

#include "core/events/timelets.hpp"

namespace am::core {

/// A function that may be replaced while it runs; null: none.
template <class A>
using Shared = std::shared_ptr<std::function<void(A&)>>;

/// The T1's timec and timeh, which are one timelet among the others (registers.cpp).
struct CompareRegister {
  Count when = 0;
  TimeletId timelet = 0;
  Shared<LowEvent> handler;
};

struct Agenda {
  explicit Agenda(std::pmr::memory_resource* memory)
      : timelets(memory), posts(memory), untold_deaths(memory) {}

  [[nodiscard]] bool empty() const noexcept {
    return timelets.empty() && !outlet && posts.empty() && untold_deaths.empty();
  }
  void clear() noexcept {
    timelets.clear();
    outlet = {};
    default_handler = {};
    posts.clear();
    on_peer_death = {};
    untold_deaths.clear();
  }

  Timelets timelets;
  CompareRegister compare;
  Shared<LowEvent> outlet;
  Shared<Incoming> default_handler;
  std::pmr::deque<std::function<void(Node&)>> posts;
  bool posting = false;  // one of them runs
  std::function<void(Node&, NodeId)> on_peer_death;
  std::pmr::deque<NodeId> untold_deaths;  // for on_peer_death
};

}  // namespace am::core
