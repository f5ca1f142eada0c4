// T *global: a pointer to a value on any node, whose arithmetic stays on that node. `*p`, `p[i]` and `p->*&S::member` are
// references: reading one is a blocking read, assigning to one a blocking write.
//
// Where the memory is this node's own that is one compare and a plain access; where it is mapped, a few more; else a request
// and its reply, while which handlers run. Null pointers and what is outside of the segments are an am::Error.
//
// One word, trivially copyable: a global pointer travels as an argument and lies in global memory itself.
#pragma once

#include <am/global.hpp>
#include <am/splitc/here.hpp>
#include <am/splitc/world.hpp>
#include <compare>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace am::splitc {

template <class T>
class global_ptr;

namespace impl {

template <class T>
std::remove_const_t<T> read(am::GlobalPtr<T> at, std::ptrdiff_t n) {
  if (T* own = nullptr; find_own(at, n, own)) [[likely]]
    return load(own);
  return am::get(world().node(), at + n);
}
template <class T>
void write(am::GlobalPtr<T> at, std::ptrdiff_t n, const std::type_identity_t<T>& value) {
  if (T* own = nullptr; find_own(at, n, own)) [[likely]]
    return store(own, value);
  am::put(world().node(), at + n, value);
}

/// In bytes, from the beginning of an object.
template <class T, class Member, class C>
std::ptrdiff_t offset_of(Member C::*member) noexcept {
  alignas(T) static constexpr std::byte room[sizeof(T)]{};
  const auto* object = reinterpret_cast<const T*>(room);
  return reinterpret_cast<const std::byte*>(&(object->*member)) - room;
}

}  // namespace impl

/// What `*p` is. It stands for the value and is none: `auto x = *p` is another reference; write the type.
template <class T>
class global_ref {
 public:
  /// What is read.
  using value_type = std::remove_const_t<T>;

  /// Value n of the place.
  explicit global_ref(am::GlobalPtr<T> at, std::ptrdiff_t n = 0) noexcept : at_(at), n_(n) {}
  global_ref(const global_ref&) noexcept = default;

  // NOLINTNEXTLINE(google-explicit-constructor): it is read as the value
  operator value_type() const { return impl::read(at_, n_); }
  /// Reads it, and waits.
  [[nodiscard]] value_type value() const { return impl::read(at_, n_); }

  const global_ref& operator=(const value_type& value) const {
    if constexpr (impl::check_writable<T>()) impl::write(at_, n_, value);
    return *this;
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment, misc-unconventional-assign-operator): it copies the value
  global_ref& operator=(const global_ref& other) {
    if constexpr (impl::check_writable<T>()) impl::write(at_, n_, other.value());
    return *this;
  }

  // Read, then write: others may write in between. atomic() and fetch_add() leave no between.
  const global_ref& operator+=(const value_type& by) const {
    return *this = static_cast<value_type>(value() + by);
  }
  const global_ref& operator-=(const value_type& by) const {
    return *this = static_cast<value_type>(value() - by);
  }
  const global_ref& operator*=(const value_type& by) const {
    return *this = static_cast<value_type>(value() * by);
  }
  const global_ref& operator/=(const value_type& by) const {
    return *this = static_cast<value_type>(value() / by);
  }

  // NOLINTNEXTLINE(google-runtime-operator): as for any reference, the address of what it stands for
  [[nodiscard]] global_ptr<T> operator&() const noexcept { return global_ptr<T>(at_ + n_); }

 private:
  am::GlobalPtr<T> at_;
  std::ptrdiff_t n_;
};

/// A pointer to a T on any node: *p reads and writes it there.
template <class T>
class global_ptr {
 public:
  /// As std::pointer_traits wants it.
  using element_type = T;
  /// What is read.
  using value_type = std::remove_const_t<T>;

  constexpr global_ptr() noexcept = default;
  constexpr global_ptr(std::nullptr_t) noexcept {}  // NOLINT: implicit, as for a plain pointer
  constexpr global_ptr(am::GlobalPtr<T> place) noexcept : at_(place) {}  // NOLINT: the same place
  template <class U>
    requires(std::is_const_v<T>&& std::is_same_v<std::remove_const_t<T>, U>)
  constexpr global_ptr(global_ptr<U> other) noexcept : at_(other.place()) {}  // NOLINT: implicit, to const

  /// The same place, for the functions of am/global.hpp.
  [[nodiscard]] constexpr am::GlobalPtr<T> place() const noexcept { return at_; }
  /// toproc(p): the node whose memory it is. Not of a null pointer.
  [[nodiscard]] constexpr int proc() const noexcept { return static_cast<int>(at_.node()); }
  /// tolocal(p): the plain pointer, on the owner. Throws am::Error on any other node.
  [[nodiscard]] T* local() const {
    if (T* own = nullptr; impl::find_own(at_, 0, own)) [[likely]]
      return own;
    return at_.local(world().node());
  }
  [[nodiscard]] bool is_local() const noexcept { return at_ && at_.node() == impl::here.node; }
  explicit constexpr operator bool() const noexcept { return static_cast<bool>(at_); }
  /// The same place as another type.
  template <class U>
  [[nodiscard]] constexpr global_ptr<U> as() const noexcept {
    return at_.template as<U>();
  }

  [[nodiscard]] global_ref<T> operator*() const noexcept { return global_ref<T>(at_); }
  [[nodiscard]] global_ref<T> operator[](std::integral auto n) const noexcept {
    return global_ref<T>(at_, static_cast<std::ptrdiff_t>(n));
  }
  /// p->member, of what p points to: `p->*&S::member`. Of a member that is an array, the pointer to its first value.
  template <class Member, class C>
    requires std::is_base_of_v<C, value_type>
  [[nodiscard]] auto operator->*(Member C::*member) const noexcept {
    const auto at = at_.template as<std::byte>() + impl::offset_of<value_type>(member);
    using Part = std::conditional_t<std::is_const_v<T>, const Member, Member>;
    if constexpr (std::is_array_v<Member>) {
      return global_ptr<std::remove_extent_t<Part>>(at.template as<std::remove_extent_t<Part>>());
    } else {
      return global_ref<Part>(at.template as<Part>());
    }
  }

  // Arithmetic counts values of T on the same node, as am::GlobalPtr's.
  friend constexpr global_ptr operator+(global_ptr p, std::integral auto n) noexcept {
    return p.at_ + static_cast<std::ptrdiff_t>(n);
  }
  friend constexpr global_ptr operator+(std::integral auto n, global_ptr p) noexcept { return p + n; }
  friend constexpr global_ptr operator-(global_ptr p, std::integral auto n) noexcept {
    return p.at_ - static_cast<std::ptrdiff_t>(n);
  }
  friend constexpr std::ptrdiff_t operator-(global_ptr a, global_ptr b) noexcept { return a.at_ - b.at_; }
  constexpr global_ptr& operator+=(std::ptrdiff_t n) noexcept { return *this = *this + n; }
  constexpr global_ptr& operator-=(std::ptrdiff_t n) noexcept { return *this = *this - n; }
  constexpr global_ptr& operator++() noexcept { return *this += 1; }
  constexpr global_ptr& operator--() noexcept { return *this -= 1; }
  constexpr global_ptr operator++(int) noexcept { return std::exchange(*this, *this + 1); }
  constexpr global_ptr operator--(int) noexcept { return std::exchange(*this, *this - 1); }
  friend constexpr auto operator<=>(global_ptr, global_ptr) noexcept = default;

 private:
  am::GlobalPtr<T> at_;
};

/// toglobal(p): for what lies in this node's segment (spread arrays, local_malloc). Throws am::Error for anything else.
template <class T>
[[nodiscard]] global_ptr<T> to_global(T* local) {
  return am::global(world().node(), local);
}
/// toglobal(proc, p): the place on `proc` that lies as `local` does here: in a spread array.
template <class T>
[[nodiscard]] global_ptr<T> to_global(int proc, T* local) {
  return am::global(world().node(), local).on(static_cast<NodeId>(proc));
}
template <class T>
[[nodiscard]] T* to_local(global_ptr<T> p) {
  return p.local();
}

template <class P>
inline constexpr bool is_pointer = false;
template <class T>
inline constexpr bool is_pointer<global_ptr<T>> = true;

/// A global or a spread pointer.
template <class P>
concept Pointer = is_pointer<P>;

}  // namespace am::splitc

/// It looks like an iterator, and means the same on every node.
template <class T>
inline constexpr bool am::is_plain_value<am::splitc::global_ptr<T>> = true;
