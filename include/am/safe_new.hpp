// new and delete that handlers may use in the interrupt mode, too. Include it in exactly one source file of a program: it
// replaces the global operators, for the program and every library that it uses.
//
// There a handler interrupts the computation anywhere, also inside malloc, which must not be entered again. With these
// operators it cannot: each allocation of a node's thread holds its events off, as a critical section does. What calls
// malloc itself (stdio, C libraries) is not covered; wrap it in an am::CriticalSection, or keep it out of handlers.
// Costs one thread-local load and two stores per call in that mode, a load and a test in the others.
#pragma once

#include <am/impl/current_node.hpp>
#include <am/impl/interrupt_safe.hpp>
#include <am/impl/new_operators.hpp>
#include <am/node.hpp>
#include <cstddef>
#include <cstdlib>
#include <optional>

namespace am::impl {

/// So AM_DISPATCH=interrupt is not refused (am/start.hpp).
[[maybe_unused]] static const bool safe_new_is_here = (handlers_may_allocate = true);

/// Holds the events of this thread's node off, if it has one.
class HoldHere {
 public:
  HoldHere() noexcept {
    Node* const node = current_node();
    if (node != nullptr && node->dispatch() == Dispatch::interrupt) hold_.emplace(*node);
  }

 private:
  std::optional<Hold> hold_;
};

// NOLINTBEGIN(misc-definitions-in-headers): for one source file
void* take_block(std::size_t bytes, std::size_t alignment) noexcept {
  const HoldHere hold;
  return plain_block(bytes, alignment);
}

void give_block(void* block) noexcept {
  const HoldHere hold;
  std::free(block);
}
// NOLINTEND(misc-definitions-in-headers)

}  // namespace am::impl
