// T *spread: a pointer whose arithmetic goes across the nodes. p + 1 is the same place on the next node; after the last one
// comes node 0, a value of T further on. So the elements of a spread array come in their order: element k lives on node
// k mod PROCS, at place k / PROCS.
#pragma once

#include <am/splitc/global_ptr.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace am::splitc {

namespace impl {

/// Element k of what is dealt out to the nodes.
struct Dealt {
  NodeId proc;
  std::uint64_t slot;
};
inline Dealt dealt(std::uint64_t k) {
  const NodeId nodes = here.nodes;
  if (std::has_single_bit(nodes)) [[likely]]
    return {static_cast<NodeId>(k & (nodes - 1)), k >> std::countr_zero(nodes)};
  if (nodes == 0) no_world();
  return {static_cast<NodeId>(k % nodes), k / nodes};
}

/// n elements of `step` bytes after `at`, the nodes first.
inline am::GlobalPtr<std::byte> across(am::GlobalPtr<std::byte> at, std::ptrdiff_t n, std::size_t step) {
  if (here.nodes == 0) no_world();
  const auto nodes = static_cast<std::ptrdiff_t>(here.nodes);
  std::ptrdiff_t rounds = n / nodes;
  std::ptrdiff_t proc = static_cast<std::ptrdiff_t>(at.node()) + n % nodes;
  if (proc < 0) proc += nodes, --rounds;
  if (proc >= nodes) proc -= nodes, ++rounds;
  return am::GlobalPtr<std::byte>(at.address().moved(rounds, step)).on(static_cast<NodeId>(proc));
}

}  // namespace impl

/// A pointer whose next place is on the next node.
template <class T>
class spread_ptr {
 public:
  /// As std::pointer_traits wants it.
  using element_type = T;
  /// What is read.
  using value_type = std::remove_const_t<T>;

  constexpr spread_ptr() noexcept = default;
  constexpr spread_ptr(std::nullptr_t) noexcept {}  // NOLINT: implicit, as for a plain pointer
  explicit constexpr spread_ptr(am::GlobalPtr<T> place) noexcept : at_(place) {}
  template <class U>
    requires(std::is_const_v<T>&& std::is_same_v<std::remove_const_t<T>, U>)
  constexpr spread_ptr(spread_ptr<U> other) noexcept : at_(other.place()) {}  // NOLINT: implicit, to const

  /// (T *global) p: the same place; from there on arithmetic stays on its node.
  // NOLINTNEXTLINE(google-explicit-constructor): the language converts so
  constexpr operator global_ptr<T>() const noexcept { return at_; }
  /// The same place as a global pointer.
  [[nodiscard]] constexpr global_ptr<T> global() const noexcept { return at_; }
  /// The same place, for the functions of am/global.hpp.
  [[nodiscard]] constexpr am::GlobalPtr<T> place() const noexcept { return at_; }
  /// The node on which it lies.
  [[nodiscard]] constexpr int proc() const noexcept { return static_cast<int>(at_.node()); }
  /// The plain pointer, on the owner. Throws am::Error on any other node.
  [[nodiscard]] T* local() const { return global().local(); }
  explicit constexpr operator bool() const noexcept { return static_cast<bool>(at_); }
  /// The same place as another type.
  template <class U>
  [[nodiscard]] constexpr spread_ptr<U> as() const noexcept {
    return spread_ptr<U>(at_.template as<U>());
  }

  [[nodiscard]] global_ref<T> operator*() const noexcept { return global_ref<T>(at_); }
  [[nodiscard]] global_ref<T> operator[](std::integral auto n) const { return *(*this + n); }
  template <class Member, class C>
    requires std::is_base_of_v<C, value_type>
  [[nodiscard]] auto operator->*(Member C::*member) const noexcept { return global()->*member; }

  friend spread_ptr operator+(spread_ptr p, std::integral auto n) {
    const auto bytes =
        impl::across(p.at_.template as<std::byte>(), static_cast<std::ptrdiff_t>(n), sizeof(T));
    return spread_ptr(bytes.template as<T>());
  }
  friend spread_ptr operator+(std::integral auto n, spread_ptr p) { return p + n; }
  friend spread_ptr operator-(spread_ptr p, std::integral auto n) {
    const auto back = static_cast<std::ptrdiff_t>(n);
    return back == PTRDIFF_MIN ? p + PTRDIFF_MAX : p + -back;
  }
  /// How many elements further on, for two pointers into the same array.
  friend std::ptrdiff_t operator-(spread_ptr a, spread_ptr b) {
    const std::ptrdiff_t rounds = a.at_ - b.at_.on(a.at_.node());
    return rounds * procs() + a.proc() - b.proc();
  }
  spread_ptr& operator+=(std::ptrdiff_t n) { return *this = *this + n; }
  spread_ptr& operator-=(std::ptrdiff_t n) { return *this = *this - n; }
  spread_ptr& operator++() { return *this += 1; }
  spread_ptr& operator--() { return *this -= 1; }
  spread_ptr operator++(int) { return std::exchange(*this, *this + 1); }
  spread_ptr operator--(int) { return std::exchange(*this, *this - 1); }
  friend constexpr bool operator==(spread_ptr, spread_ptr) noexcept = default;
  /// In the order of the elements: by place, then by node.
  friend constexpr std::strong_ordering operator<=>(spread_ptr a, spread_ptr b) noexcept {
    const auto by_place = a.at_.offset() <=> b.at_.offset();
    return by_place != 0 ? by_place : a.at_ <=> b.at_;
  }

 private:
  am::GlobalPtr<T> at_;
};

/// The plain pointer, on the owner. Throws am::Error on any other node.
template <class T>
[[nodiscard]] T* to_local(spread_ptr<T> p) {
  return p.local();
}

template <class T>
inline constexpr bool is_pointer<spread_ptr<T>> = true;

}  // namespace am::splitc

template <class T>
inline constexpr bool am::is_plain_value<am::splitc::spread_ptr<T>> = true;
