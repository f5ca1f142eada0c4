// A send by which libam keeps a promise of its own: a collective, global memory by messages, a multicast on its way.
#pragma once

#include "core/membership/peers_gone.hpp"
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

/// Tries until it is sent: attempt() says ok, again or unreachable. Throws am::Error, in the name of `what`, when the peer is gone, and
/// what handlers throw meanwhile.
template <class F>
void send_own(Engine& engine, NodeId to, const char* what, F attempt) {
  const Engine::OwnSend own(engine);
  Status status = attempt();
  if (status == Status::again) {
    engine.wait(
        [&] {
          status = attempt();
          return status != Status::again;
        },
        what);
  }
  if (status != Status::ok) throw peer_gone_error(engine, what, to);
}

}  // namespace am::core
