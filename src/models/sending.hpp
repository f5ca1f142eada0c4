// Sends that wait, for the old interfaces, by attempts: where a handler throws meanwhile, nothing of them has gone. (Of a long one that
// waits inside libam some pieces may have gone, and the others follow.)
//
// The node's own thread only.
#pragma once

#include <am/node.hpp>

#include <exception>

namespace am::models {

/// Tries until the answer is not `again`. Handlers run meanwhile; inside a low handler those of replies.
template <class F>
Status wait_to_send(Node& node, F attempt) {
  Status status = attempt();
  const auto is_over = [&] { return status != Status::again; };
  if (is_over()) return status;
  if (node.level() == Level::computation) {
    node.wait_until([&] {
      status = attempt();
      return is_over();
    });
  } else {
    for (; !is_over(); status = attempt()) node.poll_replies();
  }
  return status;
}

/// The same for an answer that somebody counts on: it goes, or its receiver is gone, whatever handlers throw. Returns the first thing
/// that they threw.
template <class F>
[[nodiscard]] std::exception_ptr send_surely(Node& node, F attempt) {
  std::exception_ptr thrown;
  for (;;) {
    try {
      wait_to_send(node, attempt);
      return thrown;
    } catch (...) {
      if (thrown == nullptr) thrown = std::current_exception();
    }
  }
}

}  // namespace am::models
