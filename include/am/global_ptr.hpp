// GlobalPtr: a pointer that means the same on every node of the job. One word, trivially copyable: it travels as a
// handler's argument and lies in global memory itself.
//
// It is a place, not a reference: reading and writing through it are the functions of am/global.hpp, so that what may
// take long can be seen in the text. Usable on any thread, except local(), which asks which node the thread is.
#pragma once

#include <am/impl/global_access.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace am {

/// Where a T lies in the memory segment of a node. A plain value, which may travel in messages.
template <class T>
class GlobalPtr {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "libam: global memory holds trivially copyable values: they are copied between nodes as bytes");

 public:
  constexpr GlobalPtr() noexcept = default;        // null, as all zero bits
  constexpr GlobalPtr(std::nullptr_t) noexcept {}  // NOLINT: implicit, as for a plain pointer
  /// The byte `offset` of the segment of `node`. Whether it exists is checked where it is used.
  constexpr GlobalPtr(NodeId node, std::uint64_t offset) noexcept
      : at_(impl::GlobalAddress::make(node, offset)) {}
  explicit constexpr GlobalPtr(impl::GlobalAddress at) noexcept : at_(at) {}

  template <class U>
    requires(std::is_const_v<T>&& std::is_same_v<std::remove_const_t<T>, U>)
  constexpr GlobalPtr(GlobalPtr<U> other) noexcept : at_(other.address()) {}  // NOLINT: implicit, to const

  /// The node whose memory it is. Not of a null pointer.
  [[nodiscard]] constexpr NodeId node() const noexcept { return static_cast<NodeId>(at_.node()); }
  /// The distance from the beginning of that node's segment, in bytes. Not of a null pointer.
  [[nodiscard]] constexpr std::uint64_t offset() const noexcept { return at_.offset(); }
  explicit constexpr operator bool() const noexcept { return !at_.is_null(); }

  /// The plain pointer, on the node that owns the memory. Throws am::Error elsewhere, and outside the segment. The node
  /// is the one of this thread; the second form is told, and faster by a call.
  [[nodiscard]] T* local() const { return local(impl::this_node("local")); }
  [[nodiscard]] T* local(Node& node) const {
    return reinterpret_cast<T*>(impl::GlobalAccess::own(node, at_, sizeof(T)));
  }

  /// The same offset on another node: the peer's part of what am::allocate_symmetric gave.
  [[nodiscard]] constexpr GlobalPtr on(NodeId node) const noexcept { return {node, offset()}; }
  /// The same place as another type.
  template <class U>
  [[nodiscard]] constexpr GlobalPtr<U> as() const noexcept {
    return GlobalPtr<U>(at_);
  }

  // Arithmetic counts values of T on the same node. What leaves every possible segment points nowhere from then on.
  friend constexpr GlobalPtr operator+(GlobalPtr p, std::ptrdiff_t n) noexcept {
    return GlobalPtr(p.at_.moved(n, sizeof(T)));
  }
  friend constexpr GlobalPtr operator+(std::ptrdiff_t n, GlobalPtr p) noexcept { return p + n; }
  friend constexpr GlobalPtr operator-(GlobalPtr p, std::ptrdiff_t n) noexcept {
    return n == PTRDIFF_MIN ? p + PTRDIFF_MAX : p + -n;
  }
  /// For two pointers to the same node.
  friend constexpr std::ptrdiff_t operator-(GlobalPtr a, GlobalPtr b) noexcept {
    return (static_cast<std::ptrdiff_t>(a.offset()) - static_cast<std::ptrdiff_t>(b.offset())) /
           static_cast<std::ptrdiff_t>(sizeof(T));
  }
  constexpr GlobalPtr& operator+=(std::ptrdiff_t n) noexcept { return *this = *this + n; }
  constexpr GlobalPtr& operator-=(std::ptrdiff_t n) noexcept { return *this = *this - n; }
  constexpr GlobalPtr& operator++() noexcept { return *this += 1; }
  constexpr GlobalPtr& operator--() noexcept { return *this -= 1; }

  /// By node, then by offset; null before all.
  friend constexpr auto operator<=>(GlobalPtr, GlobalPtr) noexcept = default;

  /// For the layers above: node and offset in one word.
  [[nodiscard]] constexpr impl::GlobalAddress address() const noexcept { return at_; }

 private:
  impl::GlobalAddress at_;
};

static_assert(sizeof(GlobalPtr<int>) == 8 && std::is_trivially_copyable_v<GlobalPtr<int>>);

}  // namespace am
