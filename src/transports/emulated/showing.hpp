// How packets that have come are shown to their receivers, by whoever has carried them there (kit::LiveNodes).
//
// Any thread, any process, several at once.
#pragma once

#include <am/types.hpp>

#include "host/bell.hpp"
#include "host/heavy_fence.hpp"
#include "transports/emulated/windows.hpp"

namespace am::emulated {

class Showing {
 public:
  explicit Showing(const Windows& windows) noexcept : windows_(windows) {}

  /// After the count. Who takes the bit back looks at the count afterwards.
  void note(NodeId at, NodeId from, Lane lane) const noexcept {
    windows_.news(at).from[index(lane)].set(from);
  }
  /// Of two who do this at once the older count may stay: the receiver looks at the other one now and then (Arrivals::look_after_quiet).
  void show(NodeId at, NodeId from, Lane lane) const noexcept {
    Window& window = windows_.window(at, from);
    window.shown[index(lane)].store(window.arrived[index(lane)].load(std::memory_order_acquire),
                                    std::memory_order_release);
    wake(at);
  }
  void wake(NodeId node) const noexcept {
    if (windows_.news(node).fences.load(std::memory_order_relaxed)) host::own_fence();
    host::wake(windows_.board(), node);
  }
  /// There is room to inject for it.
  void has_room(NodeId node) const noexcept {
    host::own_fence();
    host::wake(windows_.board(), node);
  }

 private:
  const Windows& windows_;
};

}  // namespace am::emulated
