// The debug build (AM_CHECKED) ends a program whose handler allocates by new while it interrupts the computation: that may
// be inside malloc just then, and the next such interrupt breaks the heap or hangs. Programs that include am/safe_new.hpp
// have other operators, with which it is allowed. What calls malloc itself is not seen.
//
// In a file of its own: a program that defines these operators leaves it out of a static library.
#ifdef AM_CHECKED

#include <am/impl/current_node.hpp>
#include <am/impl/new_operators.hpp>

#include <cstdlib>
#include <string>

#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"

namespace {

void must_not_interrupt() noexcept {
  am::Node* node = am::impl::current_node();
  if (node == nullptr || !node->engine().attendant().interrupts_computation()) return;
  am::core::broken(node->id(), "handler ", node->engine().running_handler(),
                   " allocates while it interrupts the computation (AM_DISPATCH=interrupt): take "
                   "memory beforehand, post the work, or include am/safe_new.hpp in the program");
}

}  // namespace

namespace am::impl {

void* take_block(std::size_t bytes, std::size_t alignment) noexcept {
  must_not_interrupt();
  return plain_block(bytes, alignment);
}

void give_block(void* block) noexcept { std::free(block); }

}  // namespace am::impl

#endif
