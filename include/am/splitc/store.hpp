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

namespace am::splitc {

namespace impl {

/// Any number of bytes.
void store_range(World& world, am::GlobalPtr<std::byte> to, const void* from, std::size_t bytes);

template <class Value>
void store_value(World& world, am::GlobalPtr<Value> to, const Value& value) {
  const auto bytes = to.template as<std::byte>();
  if (Value* own = nullptr; find_own(to, 0, own)) {
    store(own, value);
    world.sent_to[to.node()] += sizeof(Value);
    world.count_stored(sizeof(Value));
  } else if constexpr (is_word<Value>) {
    static_cast<void>(am::direct(world.node(), to));  // an error is the caller's
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(Value));
    const std::uint64_t size = sizeof(Value);
    world.must_be_sent(world.node().request<&World::store_word>(to.node(), bytes, bits, size), to.node(),
                       "store");
    world.sent_to[to.node()] += sizeof(Value);
  } else {
    store_range(world, bytes, &value, sizeof(Value));
  }
}

}  // namespace impl

/// The value is taken at once. Throws am::Error for what is no place, and when the node is gone.
template <Pointer P>
void store(P to, const typename P::value_type& value) {
  if constexpr (impl::check_writable<typename P::element_type>())
    impl::store_value(world(), to.place(), value);
}

/// Waits until `bytes` have been stored into this node's memory, beside those that earlier calls have waited for. Polls.
/// Throws am::Error when a node died and they have not come.
void store_sync(std::size_t bytes);
/// Whatever has come by now is waited for.
void reset_store_sync();
/// Collective: returns when every store that any node issued before has arrived, and is waited for. No barrier is needed before.
/// (Stores by handlers of a node that is in it belong to no phase.) What a handler throws meanwhile leaves it when it is complete.
void all_store_sync();

}  // namespace am::splitc
