// A send by which libam keeps a promise of its own: a collective, global memory by messages, a multicast on its way.
#pragma once

#include "core/node/engine.hpp"

namespace am::core {

/// While one lives nicond, which tells the program of its own sends, stays what it was.
class Engine::OwnSend {
 public:
  explicit OwnSend(Engine& engine) noexcept
      : events_(engine.node_->events_), nicond_(engine.node_->events_.nicond) {}
  ~OwnSend() { events_.nicond = nicond_; }
  OwnSend(const OwnSend&) = delete;
  OwnSend& operator=(const OwnSend&) = delete;

 private:
  impl::EventState& events_;
  const bool nicond_;
};

}  // namespace am::core
