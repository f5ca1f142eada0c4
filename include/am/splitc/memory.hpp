// Memory that other nodes reach: dealt out over all of them, or this node's own.
#pragma once

#include <am/global.hpp>
#include <am/splitc/spread_ptr.hpp>
#include <am/splitc/world.hpp>
#include <cstddef>
#include <cstdint>

namespace am::splitc {

namespace impl {

/// The product, or more than any segment has.
constexpr std::size_t times(std::size_t a, std::size_t b) noexcept {
  return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

}  // namespace impl

/// `count` blocks of `each` values, dealt out: block k on node k mod PROCS, behind that node's earlier ones. Cleared, and at the
/// same offset on all nodes. The spread pointer is that of a block of one value; for longer blocks see spread_array, or convert:
/// global_ptr<T>(p + proc) + i. Collective. Throws am::Error where there is no room, on all nodes. (The language returns NULL.)
template <class T>
[[nodiscard]] spread_ptr<T> all_spread_malloc(std::size_t count, std::size_t each = 1) {
  World& w = world();
  impl::agree(w, "all_spread_malloc", count);
  impl::agree(w, "all_spread_malloc with blocks", impl::times(each, sizeof(T)));
  const std::size_t nodes = impl::here.nodes;
  const std::size_t blocks = count / nodes + (count % nodes != 0 ? 1 : 0);
  return spread_ptr<T>(am::allocate_symmetric<T>(w.node(), impl::times(blocks, each)).on(0));
}

/// Gives it back. Collective, in the order of the language's rules: by all, when nobody uses it any more. Null is nothing.
template <class T>
void all_spread_free(spread_ptr<T> block) {
  World& w = world();
  impl::agree(w, block ? "all_spread_free" : "all_spread_free(null)", block ? block.place().offset() : 0);
  w.node().barrier();
  if (block) am::deallocate(w.node(), block.place().on(impl::here.node));
}

/// Room for `count` values in this node's own segment, cleared, so that others may have global pointers to it (to_global).
/// Plain malloc's memory is nobody else's. Of none it is a pointer, too, which no other one equals and to_global takes: a node that
/// happens to have nothing needs no case of its own. Throws am::Error when there is no room.
template <class T>
[[nodiscard]] T* local_malloc(std::size_t count = 1) {
  World& w = world();
  return am::allocate<T>(w.node(), count).local(w.node());
}
template <class T>
void local_free(T* block) {
  World& w = world();
  if (block != nullptr) am::deallocate(w.node(), am::global(w.node(), block));
}

}  // namespace am::splitc
