// From a global address to bytes that a load or a store reaches: the inline half of global memory, and the doors to the
// other half (src/core/memory/global_memory.cpp), which maps a segment on first use, sends messages where there is nothing to
// map, and says what is wrong with an address.
//
// Called by the node's own thread.
#pragma once

#include <am/impl/global_address.hpp>
#include <am/node.hpp>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace am {

class Counter;

namespace impl {

/// One atomic operation as a message carries it: on an integer of `bytes` (4 or 8).
struct Atomic {
  enum class Operation : std::uint8_t { fetch_add, exchange, compare_swap };

  Operation operation;
  std::uint8_t bytes;
  std::uint64_t operand;   ///< what is added or stored
  std::uint64_t expected;  ///< compare_swap stores only over this value
};

/// The node of this thread. Throws am::Error in the name of `what` when it has none.
Node& this_node(const char* what);

// What the inline half does not know. Each throws am::Error for bytes that are not in a segment; `counter` null: returns
// when it is done.
void put_slowly(Node& node, GlobalAddress to, const void* from, std::size_t bytes, Counter* counter);
void get_slowly(Node& node, GlobalAddress from, void* into, std::size_t bytes, Counter* counter);
void atomic_slowly(Node& node, GlobalAddress at, const Atomic& atomic, void* old, Counter* counter);
/// A put that a notification follows on the same way: nobody waits for it.
void put_ahead(Node& node, GlobalAddress to, const void* from, std::size_t bytes);
/// Null where only messages reach the bytes.
std::byte* direct_slowly(Node& node, GlobalAddress at, std::size_t bytes);
std::byte* own_slowly(Node& node, GlobalAddress at, std::size_t bytes);
[[noreturn]] void reached_from_handler(Node& node, GlobalAddress at) noexcept;

struct GlobalAccess {
  /// Where the bytes (at least one) lie in this process, or null: then ask one of the slow functions. A segment that is
  /// not mapped has size 0 here, so that one comparison answers for it, too.
  static std::byte* reach(Node& node, GlobalAddress at, std::size_t bytes) noexcept {
#ifdef AM_CHECKED
    const Hold hold(node);
    if (node.events_.level != Level::computation && at.node() != node.id_) reached_from_handler(node, at);
#endif
    if (at.node() < node.size_) [[likely]] {
      const PeerSegment& segment = node.segments_[at.node()];
      if (bytes <= segment.bytes && at.offset() <= segment.bytes - bytes) [[likely]]
        return segment.base + at.offset();
    }
    return nullptr;
  }

  /// The same for the node's own memory, which is always reached, or the address is wrong (am::Error).
  static std::byte* own(Node& node, GlobalAddress at, std::size_t bytes) {
    if (at.node() == node.id_) [[likely]] {
      const PeerSegment& segment = node.segments_[at.node()];
      if (bytes <= segment.bytes && at.offset() <= segment.bytes - bytes) [[likely]]
        return segment.base + at.offset();
    }
    return own_slowly(node, at, bytes);
  }
};

/// Whether one instruction reads and writes a T, given alignment: nobody sees such a one half written.
template <class T>
inline constexpr bool fits_word = std::has_single_bit(sizeof(T)) && sizeof(T) <= 8;

template <class T>
bool is_aligned_word(const std::byte* place) noexcept {
  return reinterpret_cast<std::uintptr_t>(place) % sizeof(T) == 0;
}

// Release, paired with the acquire of load: who gets a word that was put sees what its putter had put before.
template <class T>
void store(std::byte* place, const T& value) noexcept {
  if constexpr (fits_word<T>) {
    if (is_aligned_word<T>(place)) [[likely]] {
      std::atomic_ref<T>(*reinterpret_cast<T*>(place)).store(value, std::memory_order_release);
      return;
    }
  }
  std::memcpy(place, &value, sizeof(T));
}

template <class T>
T load(std::byte* place) noexcept {
  if constexpr (fits_word<T>) {
    if (is_aligned_word<T>(place)) [[likely]]
      return std::atomic_ref<T>(*reinterpret_cast<T*>(place)).load(std::memory_order_acquire);
  }
  alignas(T) std::byte copy[sizeof(T)];
  std::memcpy(copy, place, sizeof(T));
  return std::bit_cast<T>(copy);
}

/// Does the operation on an aligned T; returns what was there.
template <class T>
T apply(std::byte* place, const Atomic& atomic) noexcept {
  const std::atomic_ref<T> target(*reinterpret_cast<T*>(place));
  const auto operand = static_cast<T>(atomic.operand);
  auto old = static_cast<T>(atomic.expected);
  switch (atomic.operation) {
    case Atomic::Operation::fetch_add:
      return target.fetch_add(operand);
    case Atomic::Operation::exchange:
      return target.exchange(operand);
    case Atomic::Operation::compare_swap:
      target.compare_exchange_strong(old, operand);
      return old;
  }
  return old;
}

}  // namespace impl
}  // namespace am
