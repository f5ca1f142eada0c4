// What a global pointer has to know of the node it is used on, where one instruction each fetches it; and the one compare
// that tells a place of the node's own from all others.
//
// Set by World for its node's thread, and where its handlers run for as long as they do.
#pragma once

#include <am/global_ptr.hpp>
#include <am/types.hpp>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace am::splitc {

class World;

namespace impl {

struct Here {
  std::uint64_t first = 0;  ///< the address of the first byte of this node's segment, as am::GlobalPtr has it
  std::uint64_t bytes = 0;  ///< of the segment; 0 where there is no World
  std::byte* base = nullptr;
  World* world = nullptr;
  NodeId node = 0;
  NodeId nodes = 0;
};

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern thread_local constinit Here here;

/// Throws am::Error: this thread has no World.
[[noreturn]] void no_world();

/// Whether what a pointer to T points to is written; if not, the error says why.
template <class T>
consteval bool check_writable() {
  static_assert(!std::is_const_v<T>, "libam: what the pointer points to is const: it is only read");
  return !std::is_const_v<T>;
}

/// Whether one instruction reads and writes a T: nobody sees such a one half written.
template <class T>
inline constexpr bool is_word = std::has_single_bit(sizeof(T)) && sizeof(T) <= 8;

/// Whether value n of the place is this node's own; then it lies at `own`. (Not a word across two words.) For words the offset is
/// rotated until bits that make it no multiple of the size stand highest: so one compare asks for node, bounds and alignment,
/// and where there is an index, a second one for that.
template <class T>
bool find_own(am::GlobalPtr<T> at, std::ptrdiff_t n, T*& own) noexcept {
  if constexpr (is_word<T>) {
    constexpr int shift = std::countr_zero(sizeof(T));
    const std::uint64_t words = here.bytes >> shift;
    const std::uint64_t first = std::rotr(at.address().bits - here.first, shift);
    const std::uint64_t word = first + static_cast<std::uint64_t>(n);
    if (first >= words || word >= words) return false;
    own = reinterpret_cast<T*>(here.base + word * sizeof(T));
    return true;
  } else {
    const std::uint64_t offset = (at + n).address().bits - here.first;
    if (offset >= here.bytes || sizeof(T) > here.bytes - offset) return false;
    own = reinterpret_cast<T*>(here.base + offset);
    return true;
  }
}

// Acquire and release: as am::get and am::put.
template <class T>
std::remove_const_t<T> load(T* place) noexcept {
  using Value = std::remove_const_t<T>;
  if constexpr (is_word<T>) {
    return std::atomic_ref<Value>(*const_cast<Value*>(place)).load(std::memory_order_acquire);
  } else {
    alignas(Value) std::byte copy[sizeof(Value)];
    std::memcpy(copy, static_cast<const void*>(place), sizeof(Value));
    return std::bit_cast<Value>(copy);
  }
}
template <class T>
void store(T* place, const T& value) noexcept {
  if constexpr (is_word<T>) {
    std::atomic_ref<T>(*place).store(value, std::memory_order_release);
  } else {
    std::memcpy(static_cast<void*>(place), &value, sizeof(T));
  }
}

}  // namespace impl

/// MYPROC: this node. 0 where there is no World. An int, as in the language: programs say MYPROC - 1.
[[nodiscard]] inline int my_proc() noexcept { return static_cast<int>(impl::here.node); }
/// PROCS: how many there are.
[[nodiscard]] inline int procs() noexcept { return static_cast<int>(impl::here.nodes); }
/// PROCSLOG: of a number that is no power of two, rounded down.
[[nodiscard]] inline int procs_log() noexcept {
  return static_cast<int>(std::bit_width(impl::here.nodes | 1U)) - 1;
}

}  // namespace am::splitc
