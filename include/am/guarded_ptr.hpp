// GuardedPtr: memory that is handed out with bounds and rights, which the holder of the pointer can neither forge nor widen.
//
//   am::GuardedPtr<double> p = am::guard(node, values, n, am::Rights::read);        // the owner makes one, and sends it to others
//   double x;
//   if (am::get(node, p + i, x) != am::GuardStatus::ok) ...                         // each access is checked by the owner
//   am::revoke(node, p);                                                            // from now on all copies of it are stale
//
// It is the M-Machine's guarded pointer (am::GlobalPtr is the one without guards) on machines whose words have no tag: segment,
// rights, owner and generation stand in the pointer, and a keyed MAC beside them (SipHash-2-4, 64 bits; the key: 128 random bits of the owner's, made with
// its first guard, which never leave it). The offset is not in the MAC: so anybody moves a pointer within its segment, and one that
// leaves it points nowhere. To narrow one is its owner's: he guards the part.
//
// An access is a request to the owner, whose handler checks, in this order: is it my own making (else `forged`), is it still
// valid (`stale`), does it permit this (`not_permitted`), does it end inside (`out_of_bounds`). What is refused touches nothing, is
// counted there (Counters::refused_accesses, AM_STATS, aminfo --stats), and is reported to who asked. The owner's own accesses are checked alike.
//
// What it protects against: nodes that follow mistaken or malicious pointers, also of their own making, by messages. What not:
//  - Memory in the segment of am::global.hpp can be written by nodes of the same machine, and by requests of am::put and am::get,
//    without any guard. So guard memory outside it: any that the owner has. A process that may debug another one is not stopped by anything.
//  - A pointer is a bearer's: who has seen one may use it, and it goes over the network as it is (AM_TCP_TLS encrypts what goes between hosts over TCP).
//  - Who may try without end finds a MAC after some 2^63 tries; each one is counted.
//  - It shows what lies where in its owner's address space.
//
// Errors: a null pointer, an owner that is no node, a misaligned atomic are an am::Error at the caller; so is an owner that is gone.
// Called by the node's own thread, from the computation; accesses wait, and poll meanwhile, so what a handler throws may leave them.
// At the owner an access is a low handler: it needs what makes progress there, and is atomic with respect to other handlers and critical sections.
//
// Sizes: an access over 1 MiB is checked as a whole, then goes in pieces, each of which is checked again: where the pointer is revoked
// meanwhile, some may be done. A node has up to 65536 guards at a time, and four bytes for each; a guard has less than 2^40 bytes.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 5.2.1 and 5.2.2; revoking: 8.4 asks for it.
#pragma once

#include <am/global.hpp>
#include <am/impl/guarded_bits.hpp>
#include <am/node.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace am {

/// What the owner says of an access.
enum class GuardStatus : std::uint8_t { ok, forged, stale, not_permitted, out_of_bounds };

/// The name of the answer.
constexpr std::string_view to_string(GuardStatus status) noexcept {
  switch (status) {
    case GuardStatus::ok:
      return "ok";
    case GuardStatus::forged:
      return "forged";
    case GuardStatus::stale:
      return "stale";
    case GuardStatus::not_permitted:
      return "not_permitted";
    case GuardStatus::out_of_bounds:
      return "out_of_bounds";
  }
  return "?";
}

/// A pointer to Ts of a node, with bounds and rights that nobody can forge. A plain value, which may travel in messages.
template <class T>
class GuardedPtr {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "libam: guarded memory holds trivially copyable values: they are copied between nodes as bytes");

 public:
  constexpr GuardedPtr() noexcept = default;  // null, as all zero bits
  explicit constexpr GuardedPtr(const impl::GuardedBits& bits) noexcept : bits_(bits) {}

  template <class U>
    requires(std::is_const_v<T>&& std::is_same_v<std::remove_const_t<T>, U>)
  constexpr GuardedPtr(const GuardedPtr<U>& other) noexcept  // NOLINT: implicit, to const
      : bits_(other.bits()) {}

  /// The node whose memory it is, the only one that can tell whether the rest of this is true. Not of a null pointer.
  [[nodiscard]] constexpr NodeId node() const noexcept { return static_cast<NodeId>(bits_.owner()); }
  [[nodiscard]] constexpr Rights rights() const noexcept { return bits_.rights(); }
  /// How many values the segment has from here on.
  [[nodiscard]] constexpr std::size_t count() const noexcept {
    return bits_.holds(0) ? (bits_.bytes - bits_.offset) / sizeof(T) : 0;
  }
  explicit constexpr operator bool() const noexcept { return !bits_.is_null(); }

  /// The same place as another type.
  template <class U>
  [[nodiscard]] constexpr GuardedPtr<U> as() const noexcept {
    return GuardedPtr<U>(bits_);
  }

  // Arithmetic counts values of T. What leaves the segment and its end points nowhere from then on.
  friend constexpr GuardedPtr operator+(const GuardedPtr& p, std::ptrdiff_t n) noexcept {
    return GuardedPtr(p.bits_.moved(n, sizeof(T)));
  }
  friend constexpr GuardedPtr operator-(const GuardedPtr& p, std::ptrdiff_t n) noexcept {
    return n == PTRDIFF_MIN ? p + PTRDIFF_MAX : p + -n;
  }
  constexpr GuardedPtr& operator+=(std::ptrdiff_t n) noexcept { return *this = *this + n; }
  constexpr GuardedPtr& operator-=(std::ptrdiff_t n) noexcept { return *this = *this - n; }
  constexpr GuardedPtr& operator++() noexcept { return *this += 1; }
  constexpr GuardedPtr& operator--() noexcept { return *this -= 1; }

  friend constexpr bool operator==(const GuardedPtr&, const GuardedPtr&) noexcept = default;

  /// For the layers above: all that it is made of.
  [[nodiscard]] constexpr const impl::GuardedBits& bits() const noexcept { return bits_; }

 private:
  impl::GuardedBits bits_;
};

static_assert(sizeof(GuardedPtr<int>) == 40 && std::is_trivially_copyable_v<GuardedPtr<int>>,
              "one beside another word is all that a message's arguments hold");

namespace impl {

GuardedBits guard(Node& node, const void* first, std::size_t bytes, Rights rights);
GuardStatus revoke(Node& node, const GuardedBits& guarded);
GuardStatus put_guarded(Node& node, const GuardedBits& to, const void* from, std::size_t bytes);
GuardStatus get_guarded(Node& node, const GuardedBits& from, void* into, std::size_t bytes);
GuardStatus change_guarded(Node& node, const GuardedBits& at, const Atomic& atomic, void* old);

}  // namespace impl

// -- the owner's ----------------------------------------------------------------------------------------------------------

/// Hands out `count` values of this node's memory, wherever they lie, until they are revoked; before they are freed they have to be.
/// Throws am::Error for a null pointer, for as much as there cannot be, and where the node has all the guards that it can have.
template <class T>
[[nodiscard]] GuardedPtr<T> guard(Node& node, T* first, std::size_t count, Rights rights) {
  static_assert(!std::is_const_v<T>, "libam: guard memory that may be written, with Rights::read");
  return GuardedPtr<T>(impl::guard(node, first, impl::bytes_of(count, sizeof(T)), rights));
}

/// From when it returns no access by this pointer, or by a copy of it, is permitted: they are stale. Of another guard's over the same memory
/// nothing changes. ok; else what an access would be told, and nothing is revoked. Throws am::Error for another node's.
template <class T>
GuardStatus revoke(Node& node, const GuardedPtr<T>& guarded) {
  return impl::revoke(node, guarded.bits());
}

// -- everybody's ----------------------------------------------------------------------------------------------------------

/// Writes one value. It is there when this returns ok.
template <class T>
  requires(!std::is_const_v<T>)
[[nodiscard]] GuardStatus put(Node& node, const GuardedPtr<T>& to, const std::type_identity_t<T>& value) {
  return impl::put_guarded(node, to.bits(), &value, sizeof(T));
}
/// Writes a range; of none nothing is asked. It may not overlap the place where it goes.
template <class T>
  requires(!std::is_const_v<T>)
[[nodiscard]] GuardStatus put(Node& node, const GuardedPtr<T>& to,
                              std::type_identity_t<std::span<const T>> values) {
  return impl::put_guarded(node, to.bits(), values.data(), impl::bytes_of(values.size(), sizeof(T)));
}

/// Reads one value; `into` changes only where this returns ok.
template <class T>
[[nodiscard]] GuardStatus get(Node& node, const GuardedPtr<T>& from,
                              std::type_identity_t<std::remove_const_t<T>>& into) {
  return impl::get_guarded(node, from.bits(), &into, sizeof(T));
}
/// Reads as many values as `into` has room for. Where this does not return ok, over 1 MiB, some may be changed.
template <class T>
[[nodiscard]] GuardStatus get(Node& node, const GuardedPtr<T>& from,
                              std::type_identity_t<std::span<std::remove_const_t<T>>> into) {
  return impl::get_guarded(node, from.bits(), into.data(), impl::bytes_of(into.size(), sizeof(T)));
}

namespace impl {
template <AtomicInteger T>
GuardStatus change(Node& node, const GuardedPtr<T>& at, Atomic::Operation operation, T operand, T expected,
                   T& old) {
  const Atomic atomic{operation, sizeof(T), static_cast<std::uint64_t>(operand),
                      static_cast<std::uint64_t>(expected)};
  return change_guarded(node, at.bits(), atomic, &old);
}
}  // namespace impl

// As those of am/global.hpp, with read and write rights; `old` is what was there before.
/// Adds in one step, if the pointer permits reading and writing; `old` is what was there.
template <AtomicInteger T>
[[nodiscard]] GuardStatus fetch_add(Node& node, const GuardedPtr<T>& at, std::type_identity_t<T> by,
                                    std::type_identity_t<T>& old) {
  return impl::change<T>(node, at, impl::Atomic::Operation::fetch_add, by, 0, old);
}
/// Writes in one step, under the same condition; `old` is what was there.
template <AtomicInteger T>
[[nodiscard]] GuardStatus exchange(Node& node, const GuardedPtr<T>& at, std::type_identity_t<T> value,
                                   std::type_identity_t<T>& old) {
  return impl::change<T>(node, at, impl::Atomic::Operation::exchange, value, 0, old);
}
/// Writes in one step where `expected` stands, under the same condition; `old` is what was there.
template <AtomicInteger T>
[[nodiscard]] GuardStatus compare_swap(Node& node, const GuardedPtr<T>& at, std::type_identity_t<T> expected,
                                       std::type_identity_t<T> value, std::type_identity_t<T>& old) {
  return impl::change<T>(node, at, impl::Atomic::Operation::compare_swap, value, expected, old);
}

}  // namespace am
