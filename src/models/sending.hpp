// Sends of the old interfaces that wait for room. Each try sends the whole message or nothing of it. So a handler that throws during the wait
// leaves nothing half sent.
//
// The node's own thread only.
#pragma once

#include <am/impl/waiter.hpp>
#include <am/node.hpp>

#include <cstddef>
#include <exception>

namespace am::models {

/// Tries a send on `network` until the answer is not `again`. Handlers run meanwhile; inside a low handler those of replies. Who may not
/// wait ends the job, as in every wait of libam.
template <class F>
Status wait_to_send(Node& node, Priority network, F attempt) {
  Status status = attempt();
  if (status != Status::again) return status;
  if (node.level() != Level::low || network != Priority::high) {
    node.wait_until([&] { return (status = attempt()) != Status::again; });
    return status;
  }
  impl::Waiter waiter(node.engine(), "a send on the high network");
  do {
    const std::size_t ran = node.poll_replies();
    status = attempt();
    waiter.polled(ran != 0 || status != Status::again);
  } while (status == Status::again);
  return status;
}

/// The same for an answer that somebody counts on: it goes, or its receiver is gone, whatever handlers throw. Returns the first thing
/// that they threw.
template <class F>
[[nodiscard]] std::exception_ptr send_surely(Node& node, Priority network, F attempt) {
  std::exception_ptr thrown;
  for (;;) {
    try {
      wait_to_send(node, network, attempt);
      return thrown;
    } catch (...) {
      if (thrown == nullptr) thrown = std::current_exception();
    }
  }
}

}  // namespace am::models
