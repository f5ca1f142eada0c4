// Split-phase access: put and get return at once, sync waits until all of them are complete. `*p := v` is put(p, v), `x := *p`
// is get(&x, p).
//
// Between two of them there is no order until the sync, also to the same place. A get's target stays untouched until then; a
// put's value is taken at once. To one node whose memory is reached by messages short ones travel together: 64 puts of a word in
// a message, 128 gets in a request, which one answer answers.
//
// Those with a counter of their own are none of sync()'s: sync(counter) waits for them. So phases may overlap.
#pragma once

#include <am/global.hpp>
#include <am/splitc/global_ptr.hpp>
#include <am/splitc/world.hpp>
#include <type_traits>

namespace am::splitc {

/// Begins to write a value; sync() waits for it.
template <Pointer P>
void put(P to, const typename P::value_type& value, Counter& counter) {
  if constexpr (impl::check_writable<typename P::element_type>())
    am::begin_put(world().node(), to.place(), value, counter);
}
template <Pointer P>
void put(P to, const typename P::value_type& value) {
  put(to, value, world().phase());
}

/// Begins to read a value; sync() waits for it.
template <Pointer P>
void get(typename P::value_type* into, P from, Counter& counter) {
  // What is not copied as bytes has no such pointer, whose error says so: no second one.
  if constexpr (std::is_trivially_copyable_v<typename P::value_type>)
    am::begin_get(world().node(), from.place(), *into, counter);
}
template <Pointer P>
void get(typename P::value_type* into, P from) {
  get(into, from, world().phase());
}

/// Waits until what this node began is complete: gets have come, puts are written. Polls meanwhile; where nothing is under way
/// it returns at once. Throws am::Error when a node that is needed died or left.
inline void sync(Counter& counter) { am::wait(world().node(), counter); }
inline void sync() {
  World& w = world();
  am::wait(w.node(), w.phase());
}
/// Whether it would return at once. Polls once.
[[nodiscard]] inline bool is_synced(Counter& counter) {
  world().node().poll();
  return counter.completed() == counter.begun();
}
[[nodiscard]] inline bool is_synced() { return is_synced(world().phase()); }

}  // namespace am::splitc
