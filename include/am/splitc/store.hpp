// The signalling store, `*p :- v`: one way. The sender hears nothing of it; the receiver counts the bytes that came, and may
// wait for so many (store_sync), or all nodes together for all there are (all_store_sync).
//
// A store is one message on every network (long data go ahead of it, straight into the memory where it is mapped): so it wakes
// whoever waits for it. Bytes are there before they are counted.
#pragma once

#include <am/global.hpp>
#include <am/splitc/global_ptr.hpp>
#include <am/splitc/world.hpp>
#include <cstddef>
#include <cstring>
#include <span>

namespace am::splitc {

namespace impl {

/// Any number of bytes. `own` where they go if that is on this node, or null.
void store_range(World& world, am::GlobalPtr<std::byte> to, const void* from, std::size_t bytes);

}  // namespace impl

/// The value is taken at once. Throws am::Error for what is no place, and when the node is gone.
template <Pointer P>
void store(P to, const typename P::value_type& value) {
  using Value = typename P::value_type;
  World& w = world();
  const am::GlobalPtr<Value> at = to.place();
  if (Value* own = nullptr; impl::find_own(at, 0, own)) {
    impl::store(own, value);
    w.bytes_sent += sizeof(Value);
    w.count_stored(sizeof(Value));
  } else if constexpr (impl::is_word<Value>) {
    static_cast<void>(am::direct(w.node(), at));  // an error is the caller's
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(Value));
    w.must_be_sent(w.node().request<&World::store_word>(at.node(), at.template as<std::byte>(), bits,
                                                        std::uint64_t{sizeof(Value)}),
                   at.node(), "store");
    w.bytes_sent += sizeof(Value);
  } else {
    impl::store_range(w, at.template as<std::byte>(), &value, sizeof(Value));
  }
}

/// Waits until `bytes` have been stored into this node's memory, beside those that earlier calls have waited for. Polls.
/// Throws am::Error when a node died and they have not come.
void store_sync(std::size_t bytes);
/// Whatever has come by now is waited for.
void reset_store_sync();
/// Collective: returns when every store that any node issued before has arrived, and is waited for. No barrier is needed before.
void all_store_sync();

}  // namespace am::splitc
