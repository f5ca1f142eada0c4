// What waits, and what runs: asked by the outlet, by registers (am/registers.hpp), by reports. Nothing here runs an event.
#include <string_view>

#include "core/node/engine.hpp"

namespace am::core {

/// Whether a message waits besides the one that is being handled, which its network still lends.
bool Engine::message_waits(Priority priority) noexcept {
  const bool handling = node_->events_.level == impl::Level::high ||
                        (node_->events_.level == impl::Level::low && priority == Priority::low);
  return !kept_.empty(priority) ||
         network().waits(priority, handling ? handled_[static_cast<std::size_t>(priority)] : nullptr);
}

/// Not in a handler: when the network begins its next round, and with whose message, is no matter of how often a handler asks.
void Engine::look_into_networks() noexcept {
#ifdef AM_CHECKED
  must_be_owner();
#endif
  must_not_be_a_child();
  if (networks_.only_shm() || !computes()) return;
  progress();
  end_look();
}

bool Engine::pending(Event kind) noexcept {
  switch (kind) {
    case Event::high_message:
      return message_waits(Priority::high);
    case Event::low_message:
      return message_waits(Priority::low);
    case Event::outlet:
      return sender_.available(Priority::low) && sender_.available(Priority::high);
    case Event::timelet:
      return timelet_due();
  }
  return false;
}

Engine::Handling Engine::handled() const noexcept {
  if (node_->events_.level == impl::Level::computation) return {};
  const std::size_t p = node_->events_.level == impl::Level::high ? 1 : 0;
  const impl::Packet* packet = handled_[p];
  if (packet == nullptr) return {};
  return {packet, packet->head().has(impl::flag::payload) ? handled_payload_[p] : 0};
}

std::string_view Engine::running_handler() const noexcept {
  if (node_->events_.level == impl::Level::computation) return "none";
  const impl::Packet* packet = handled().packet;
  return packet != nullptr ? table_.name(packet->head().handler()) : "of a timelet or outlet";
}

}  // namespace am::core
