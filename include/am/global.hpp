// Global memory: each node publishes a segment of its memory; every node may read, write and change any of it.
//
//   am::GlobalPtr<double> x = am::allocate_symmetric<double>(node, n);    // n values on every node
//   am::put(node, x.on(peer) + i, 3.5);                                    // straight into the peer's memory
//   double there = am::get(node, x.on(peer) + i);
//
// Between nodes of one machine these are loads, stores and one memcpy on the peer's mapped segment; the peer's program
// takes no part. Where a peer's memory cannot be reached so, the same operations travel as messages, and the peer has to
// poll for them (src/core/memory/remote_memory.cpp). The emulated T1's interfaces do puts and gets without its program, too.
//
// Errors: an address outside its node's segment, a null pointer, an unknown node, a misaligned atomic are an am::Error at
// the caller, and nothing is touched. A peer that died or left is one where messages are needed to reach it.
//
// A handler that throws: where messages are needed these functions poll, so its exception may leave them. A begin_...
// that it leaves was not begun, as far as its counter is concerned, and may be begun again: of a put, parts may be
// written; a get writes nothing any more; an atomic was not done. A blocking one that it leaves may have been done.
//
// Order: a blocking operation is complete when it returns. Whoever then hears of it, by a message, by a barrier, or by
// getting a word (1, 2, 4 or 8 bytes, aligned) that was put later, sees what it wrote. A word that is put as one is never
// seen half written; a range may be while the put runs, and from another host so may be each word in it. What is put may
// appear at any time, also while its owner holds events off. Split-phase operations that are under way together are in no order,
// also those of one node in the same place: who needs one waits in between.
//
// Called by the node's own thread, from the computation. A handler uses its own node's memory only, which
// GlobalPtr::local() gives it; a checked build (AM_CHECKED) looks.
#pragma once

#include <am/global_ptr.hpp>
#include <am/impl/copy.hpp>
#include <am/node.hpp>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#pragma push_macro("Status")  // types.hpp
#undef Status

namespace am {

namespace core {
class RemoteMemory;
}

// -- the segment --------------------------------------------------------------------------------------------------------

/// This node's own segment. Its size is Options::segment_bytes or AM_SEGMENT; its first contents are zero. Throws am::Error
/// when memory is short for all of it, where the system tells.
[[nodiscard]] std::span<std::byte> segment(Node& node);
/// How many bytes `peer` published.
[[nodiscard]] std::size_t segment_bytes(Node& node, NodeId peer);

namespace impl {
/// Bytes of `count` values, or this where that is no number: more than any segment has.
inline constexpr std::size_t too_many_bytes = PTRDIFF_MAX;
constexpr std::size_t bytes_of(std::size_t count, std::size_t size) noexcept {
  return count <= too_many_bytes / size ? count * size : too_many_bytes;
}

/// Where `values` lie in this process, or null (GlobalAccess::reach).
template <class T>
std::byte* reach(Node& node, GlobalAddress at, std::span<T> values) noexcept {
  if (values.size() > too_many_bytes / sizeof(T)) [[unlikely]]
    return nullptr;
  return GlobalAccess::reach(node, at, values.size_bytes());
}

GlobalAddress address_of(Node& node, const void* local, std::size_t bytes);
GlobalAddress allocate(Node& node, std::size_t bytes);
GlobalAddress allocate_symmetric(Node& node, std::size_t bytes);
void deallocate(Node& node, GlobalAddress block);
inline constexpr std::size_t block_alignment = line_bytes;
}  // namespace impl

/// The global pointer to something in this node's own segment. Throws am::Error for anything outside it.
template <class T>
[[nodiscard]] GlobalPtr<T> global(Node& node, T* local) {
  return GlobalPtr<T>(impl::address_of(node, local, sizeof(T)));
}

/// Room for `count` values in this node's own segment, cleared, on cache lines of its own. Throws am::Error when there is
/// no room.
template <class T>
[[nodiscard]] GlobalPtr<T> allocate(Node& node, std::size_t count = 1) {
  static_assert(alignof(T) <= impl::block_alignment,
                "libam: blocks of global memory are aligned to 64 bytes");
  return GlobalPtr<T>(impl::allocate(node, impl::bytes_of(count, sizeof(T))));
}

/// The same on every node, at the same offset: p.on(peer) is the peer's. Collective: all nodes call it with the same
/// count. It returns when all have, so the peers' parts may be used at once. Throws on every node if one has no room, and
/// where a collective does (am/collectives.hpp); but what a handler throws meanwhile leaves the next call that makes
/// progress, for the peers count on the caller to have the pointer.
template <class T>
[[nodiscard]] GlobalPtr<T> allocate_symmetric(Node& node, std::size_t count = 1) {
  static_assert(alignof(T) <= impl::block_alignment,
                "libam: blocks of global memory are aligned to 64 bytes");
  return GlobalPtr<T>(impl::allocate_symmetric(node, impl::bytes_of(count, sizeof(T))));
}

/// Gives back, on its own node, what one of the two returned; null is nothing. Symmetric memory is given back by all
/// nodes in the same order, each its own part, when nobody uses the parts any more (after a barrier).
template <class T>
void deallocate(Node& node, GlobalPtr<T> block) {
  impl::deallocate(node, block.address());
}

/// Where `count` values lie in this process, for loads, stores and memcpy: this node's own, and those of nodes whose memory is
/// mapped. Null where they are reached by messages alone. Throws am::Error for what is outside the segment.
template <class T>
[[nodiscard]] T* direct(Node& node, GlobalPtr<T> at, std::size_t count = 1) {
  const std::size_t bytes = impl::bytes_of(count, sizeof(T));
  std::byte* place = impl::GlobalAccess::reach(node, at.address(), bytes);
  if (place == nullptr) [[unlikely]]
    place = impl::direct_slowly(node, at.address(), bytes);
  return reinterpret_cast<T*>(place);
}

// -- completion -----------------------------------------------------------------------------------------------------------

/// Counts the split-phase operations (begin_...) that were begun with it, and those of them that are complete. Belongs to
/// one node's thread. Destroyed too early it abandons what is under way: what arrives later is dropped, what was being put
/// may still be written.
class Counter {
 public:
  Counter() = default;
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() {
    // Acquire pairs with RemoteMemory::count_done: what answers wrote is there before the program frees its place.
    if (begun_ != answered_.load(std::memory_order_acquire)) [[unlikely]]
      abandon();
  }

  /// How many operations were begun with it.
  [[nodiscard]] std::uint64_t begun() const noexcept { return at_once_ + begun_; }
  /// How many operations that were begun with it are complete. Their results are visible once this has counted them.
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return at_once_ + answered_.load(std::memory_order_acquire);
  }

  /// An operation that was complete at once. For the functions below.
  void count_complete() noexcept { ++at_once_; }

 private:
  friend class core::RemoteMemory;
  void abandon() noexcept;

  std::uint64_t at_once_ = 0;                // complete as soon as they were begun
  std::uint64_t begun_ = 0;                  // the others
  std::atomic<std::uint64_t> answered_ = 0;  // of these; written by answers, which may run beside the program
  core::RemoteMemory* under_way_ = nullptr;  // who still has operations of it
};

namespace impl {
void wait_slowly(Node& node, Counter& counter, std::uint64_t n);
}

/// Polls until `n` operations of the counter's life are complete. Throws am::Error when a node that they went to died or
/// left, and when fewer than n were ever begun.
inline void wait(Node& node, Counter& counter, std::uint64_t n) {
  if (counter.completed() < n) impl::wait_slowly(node, counter, n);
}
/// Polls until everything that was begun with the counter is complete.
inline void wait(Node& node, Counter& counter) { wait(node, counter, counter.begun()); }

// -- put and get ----------------------------------------------------------------------------------------------------------

/// Writes one value into global memory. Returns when it is written there.
template <class T>
  requires(!std::is_const_v<T>)
void put(Node& node, GlobalPtr<T> to, const std::type_identity_t<T>& value) {
  if (std::byte* place = impl::GlobalAccess::reach(node, to.address(), sizeof(T))) [[likely]] {
    impl::store<T>(place, value);
  } else {
    impl::put_slowly(node, to.address(), &value, sizeof(T), nullptr);
  }
}

/// Writes a range. It may not overlap the place where it goes.
template <class T>
  requires(!std::is_const_v<T>)
void put(Node& node, GlobalPtr<T> to, std::type_identity_t<std::span<const T>> values) {
  if (values.empty()) return;
  if (std::byte* place = impl::reach(node, to.address(), values)) [[likely]] {
    impl::copy_bytes(place, values.data(), values.size_bytes());
  } else {
    impl::put_slowly(node, to.address(), values.data(), impl::bytes_of(values.size(), sizeof(T)), nullptr);
  }
}

/// Reads one value.
template <class T>
[[nodiscard]] std::remove_const_t<T> get(Node& node, GlobalPtr<T> from) {
  using Value = std::remove_const_t<T>;
  if (std::byte* place = impl::GlobalAccess::reach(node, from.address(), sizeof(T))) [[likely]]
    return impl::load<Value>(place);
  alignas(T) std::byte copy[sizeof(T)];
  impl::get_slowly(node, from.address(), copy, sizeof(T), nullptr);
  return std::bit_cast<Value>(copy);
}

/// Reads as many values as `into` has room for.
template <class T>
void get(Node& node, GlobalPtr<T> from, std::type_identity_t<std::span<std::remove_const_t<T>>> into) {
  if (into.empty()) return;
  if (const std::byte* place = impl::reach(node, from.address(), into)) [[likely]] {
    impl::copy_bytes(into.data(), place, into.size_bytes());
  } else {
    impl::get_slowly(node, from.address(), into.data(), impl::bytes_of(into.size(), sizeof(T)), nullptr);
  }
}

/// Split-phase: returns when `values` may be changed again; they are written when the counter says so.
template <class T>
  requires(!std::is_const_v<T>)
void begin_put(Node& node, GlobalPtr<T> to, std::type_identity_t<std::span<const T>> values,
               Counter& counter) {
  if (!values.empty()) {
    std::byte* place = impl::reach(node, to.address(), values);
    if (place == nullptr)
      return impl::put_slowly(node, to.address(), values.data(), impl::bytes_of(values.size(), sizeof(T)),
                              &counter);
    impl::copy_bytes(place, values.data(), values.size_bytes());
  }
  counter.count_complete();
}

/// The same for one value.
template <class T>
  requires(!std::is_const_v<T>)
void begin_put(Node& node, GlobalPtr<T> to, const std::type_identity_t<T>& value, Counter& counter) {
  if (std::byte* place = impl::GlobalAccess::reach(node, to.address(), sizeof(T))) [[likely]] {
    impl::store<T>(place, value);
    counter.count_complete();
  } else {
    impl::put_slowly(node, to.address(), &value, sizeof(T), &counter);
  }
}

/// Split-phase: `into` is filled when the counter says so, and must stay where it is until then.
template <class T>
void begin_get(Node& node, GlobalPtr<T> from, std::type_identity_t<std::span<std::remove_const_t<T>>> into,
               Counter& counter) {
  if (!into.empty()) {
    const std::byte* place = impl::reach(node, from.address(), into);
    if (place == nullptr)
      return impl::get_slowly(node, from.address(), into.data(), impl::bytes_of(into.size(), sizeof(T)),
                              &counter);
    impl::copy_bytes(into.data(), place, into.size_bytes());
  }
  counter.count_complete();
}

/// The same for one value.
template <class T>
void begin_get(Node& node, GlobalPtr<T> from, std::type_identity_t<std::remove_const_t<T>>& into,
               Counter& counter) {
  if (std::byte* place = impl::GlobalAccess::reach(node, from.address(), sizeof(T))) [[likely]] {
    into = impl::load<std::remove_const_t<T>>(place);
    counter.count_complete();
  } else {
    impl::get_slowly(node, from.address(), &into, sizeof(T), &counter);
  }
}

/// put, and then a request to H on the node whose memory it is: the handler finds the data there, and so does what this node puts
/// and gets there later. Arguments, waiting and status as for Node::request.
template <auto H, class F = impl::HandlerType<H>, class T, class... A>
  requires(!std::is_const_v<T>)
Status put_notify(Node& node, GlobalPtr<T> to, std::type_identity_t<std::span<const T>> values, A&&... args) {
  if (!values.empty()) {
    if (std::byte* place = impl::reach(node, to.address(), values)) [[likely]] {
      impl::copy_bytes(place, values.data(), values.size_bytes());
    } else {
      impl::put_ahead(node, to.address(), values.data(), impl::bytes_of(values.size(), sizeof(T)));
    }
  }
  return node.request<H>(to.node(), std::forward<A>(args)...);
}

// -- atomics --------------------------------------------------------------------------------------------------------------

/// What the atomic operations take: an integer of 4 or 8 bytes.
template <class T>
concept AtomicInteger =
    std::integral<T> && !std::is_same_v<T, bool> && !std::is_const_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

namespace impl {

template <AtomicInteger T>
void atomically(Node& node, GlobalPtr<T> at, Atomic::Operation operation, T operand, T expected, T& old,
                Counter* counter) {
  const Atomic atomic{operation, sizeof(T), static_cast<std::uint64_t>(operand),
                      static_cast<std::uint64_t>(expected)};
  std::byte* place = GlobalAccess::reach(node, at.address(), sizeof(T));
  if (place == nullptr || !is_aligned_word<T>(place)) [[unlikely]]
    return atomic_slowly(node, at.address(), atomic, &old, counter);
  old = apply<T>(place, atomic);
  if (counter != nullptr) counter->count_complete();
}

}  // namespace impl

/// Adds to an integer in one step and returns its value from before. Atomic with respect to these functions on all nodes and, on
/// its own node, to std::atomic_ref. Wraps around. Sequentially consistent, as the two below.
template <AtomicInteger T>
T fetch_add(Node& node, GlobalPtr<T> at, std::type_identity_t<T> by) {
  T old;
  impl::atomically<T>(node, at, impl::Atomic::Operation::fetch_add, by, 0, old, nullptr);
  return old;
}
/// Stores `value`; returns what was there before.
template <AtomicInteger T>
T exchange(Node& node, GlobalPtr<T> at, std::type_identity_t<T> value) {
  T old;
  impl::atomically<T>(node, at, impl::Atomic::Operation::exchange, value, 0, old, nullptr);
  return old;
}
/// Stores `value` where `expected` is. Returns what was there before: `expected` if it was stored.
template <AtomicInteger T>
T compare_swap(Node& node, GlobalPtr<T> at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  T old;
  impl::atomically<T>(node, at, impl::Atomic::Operation::compare_swap, value, expected, old, nullptr);
  return old;
}

// In two halves: `old` must stay where it is until the counter counts the operation as complete.
/// fetch_add in two halves: `old` is valid when the counter counts the operation as complete.
template <AtomicInteger T>
void begin_fetch_add(Node& node, GlobalPtr<T> at, std::type_identity_t<T> by, T& old, Counter& counter) {
  impl::atomically<T>(node, at, impl::Atomic::Operation::fetch_add, by, 0, old, &counter);
}
/// exchange in two halves.
template <AtomicInteger T>
void begin_exchange(Node& node, GlobalPtr<T> at, std::type_identity_t<T> value, T& old, Counter& counter) {
  impl::atomically<T>(node, at, impl::Atomic::Operation::exchange, value, 0, old, &counter);
}
/// compare_swap in two halves.
template <AtomicInteger T>
void begin_compare_swap(Node& node, GlobalPtr<T> at, std::type_identity_t<T> expected,
                        std::type_identity_t<T> value, T& old, Counter& counter) {
  impl::atomically<T>(node, at, impl::Atomic::Operation::compare_swap, value, expected, old, &counter);
}

}  // namespace am

#pragma pop_macro("Status")
