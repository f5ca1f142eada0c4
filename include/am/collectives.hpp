// Operations of all nodes of the job together. Every node calls the same ones in the same order, with the same op and values of the same
// size; a difference is an am::Error on the node that meets it. Node::barrier is one of them.
//
// They travel as messages, so a node in one of them polls, and handlers and posts may run. Where the network has a way of its own (the
// CM-5's control network) it takes a broadcast of up to 8 bytes, and a reduction or a scan of one integer of 32 or 64 bits by std::plus,
// std::bit_and, std::bit_or, std::bit_xor, std::ranges::max or std::ranges::min. Not from a handler. From a post
// only where its node is not inside another one of them (or a barrier): one at a time, or am::Error names both. A node
// whose part is done goes on: broadcast and reduce do not wait for everybody. They need every node: when one has died they
// throw am::Error.
//
// A handler or post that throws meanwhile does not end a collective half way: it goes on, and throws the first exception
// when it is complete on this node. The results in a std::span are then in place; one that would have been returned is
// lost. An am::Error of the collective itself means that it is not complete; an exception from before is nested in it.
//
// Reductions combine the values in the order of the node ids, always grouped the same way: the result is the same on
// every node, for every root and in every run, for floating-point values, too. `op(a, b)` is associative; it need not be
// commutative. It must not throw, and may run inside a handler of libam's own, on the node's thread: it computes, and does no
// more.
//
// Values are plain ones (am/impl/plain_value.hpp). A std::span stands for the values that it shows, not for itself; where
// there is no form that takes one, and for views of what is const, an error says so when the program is compiled.
#pragma once

#include <am/impl/known_operation.hpp>
#include <am/node.hpp>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace am {

namespace impl {

/// What a reduction does to bytes, value by value.
class Combine {
 public:
  /// into = op(first, second). `into` may be one of the two.
  virtual void operator()(std::byte* into, const std::byte* first, const std::byte* second,
                          std::size_t bytes) const = 0;
  [[nodiscard]] virtual std::size_t value_bytes() const noexcept = 0;
  [[nodiscard]] virtual WordOperation on_words() const noexcept = 0;

 protected:
  ~Combine() = default;
};

void broadcast_bytes(Node& node, std::span<std::byte> values, NodeId root);
/// The result is at root; elsewhere `values` is left as scratch.
void reduce_bytes(Node& node, std::span<std::byte> values, const Combine& combine, NodeId root);
void all_reduce_bytes(Node& node, std::span<std::byte> values, const Combine& combine);
/// `all` has room for the `own_bytes` of every node; this node's lie in their place already.
void all_gather_bytes(Node& node, std::span<std::byte> all, std::size_t own_bytes);
/// How a node takes part in a scan.
struct ScanPart {
  bool descends = false;    ///< from the last node to the first: the same on all
  bool cut_before = false;  ///< nothing of what is before it in the scan comes to those behind it
  bool cut_behind = false;  ///< nor of what it gives itself
};
/// What is combined of the nodes before this one replaces its value; false: there is none.
[[nodiscard]] bool scan_bytes(Node& node, std::span<std::byte> value, const Combine& combine,
                              const ScanPart& part);

template <class T>
T value_at(const std::byte* place) noexcept {
  alignas(T) std::byte copy[sizeof(T)];
  std::memcpy(copy, place, sizeof(T));
  return std::bit_cast<T>(copy);
}

template <class T, class Op>
class CombineValues final : public Combine {
 public:
  explicit CombineValues(Op& op) noexcept : op_(op) {}
  void operator()(std::byte* into, const std::byte* first, const std::byte* second,
                  std::size_t bytes) const override {
    for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
      const auto result = static_cast<T>(op_(value_at<T>(first + at), value_at<T>(second + at)));
      std::memcpy(into + at, &result, sizeof(T));
    }
  }
  [[nodiscard]] std::size_t value_bytes() const noexcept override { return sizeof(T); }
  [[nodiscard]] WordOperation on_words() const noexcept override { return word_operation<T, Op>(); }

 private:
  Op& op_;
};

/// Whether the collectives take values of a T; if not, an error says why.
template <class T>
consteval bool check_collective() {
  if constexpr (points<T>()) {
    static_assert(
        !points<T>(),
        "libam: this collective would hand round pointers, which mean nothing on another node: give a "
        "value, a std::array of values, or, except to all_gather, a std::span of values");
  } else if constexpr (std::is_const_v<T>) {
    static_assert(!std::is_const_v<T>,
                  "libam: the results replace the values: give a std::span of values that are not const");
  } else {
    static_assert(is_copied_as_bytes<T> && !std::is_array_v<T>,
                  "libam: a collective takes trivially copyable values (a number, a struct, a std::array of "
                  "them) or, except all_gather, a std::span of them: std::span(vector) for a std::vector");
  }
  return PlainValue<T> && !std::is_const_v<T> && !std::is_array_v<T>;
}
/// The same, where an Op combines them.
template <class T, class Op>
consteval bool check_reduction() {
  if constexpr (check_collective<T>()) {
    constexpr bool combines = std::is_invocable_r_v<T, Op&, const T&, const T&>;
    static_assert(combines, "libam: op(a, b) takes two values of the collective's type and returns one");
    return combines;
  }
  return false;
}

/// What is combined of the values of the nodes before this one.
template <class T, class Op>
std::optional<T> scan_before(Node& node, T value, Op op, const ScanPart& part = {}) {
  const bool any =
      scan_bytes(node, std::as_writable_bytes(std::span(&value, 1)), CombineValues<T, Op>(op), part);
  return any ? std::optional<T>(value) : std::nullopt;
}

}  // namespace impl

/// The value that node `root` gave, on every node.
template <class T>
[[nodiscard]] T broadcast(Node& node, T value, NodeId root = 0) {
  if constexpr (impl::check_collective<T>())
    impl::broadcast_bytes(node, std::as_writable_bytes(std::span(&value, 1)), root);
  return value;
}
/// The values of node `root` replace those of all others.
template <class T, std::size_t extent>
void broadcast(Node& node, std::span<T, extent> values, NodeId root = 0) {
  if constexpr (impl::check_collective<T>())
    impl::broadcast_bytes(node, std::as_writable_bytes(values), root);
}

/// op over the values of all nodes: on node `root`; empty elsewhere.
template <class T, class Op>
std::optional<T> reduce(Node& node, T value, Op op, NodeId root = 0) {
  if constexpr (impl::check_reduction<T, Op>())
    impl::reduce_bytes(node, std::as_writable_bytes(std::span(&value, 1)), impl::CombineValues<T, Op>(op),
                       root);
  return node.id() == root ? std::optional<T>(value) : std::nullopt;
}
/// The same for each place of a range: the results replace the values of node `root`. Elsewhere the range is scratch
/// space and holds anything afterwards.
template <class T, std::size_t extent, class Op>
void reduce(Node& node, std::span<T, extent> values, Op op, NodeId root = 0) {
  if constexpr (impl::check_reduction<T, Op>())
    impl::reduce_bytes(node, std::as_writable_bytes(values), impl::CombineValues<T, Op>(op), root);
}

/// As reduce, with the result on every node.
template <class T, class Op>
[[nodiscard]] T all_reduce(Node& node, T value, Op op) {
  if constexpr (impl::check_reduction<T, Op>())
    impl::all_reduce_bytes(node, std::as_writable_bytes(std::span(&value, 1)),
                           impl::CombineValues<T, Op>(op));
  return value;
}
template <class T, std::size_t extent, class Op>
void all_reduce(Node& node, std::span<T, extent> values, Op op) {
  if constexpr (impl::check_reduction<T, Op>())
    impl::all_reduce_bytes(node, std::as_writable_bytes(values), impl::CombineValues<T, Op>(op));
}

/// op over the values of the nodes up to this one, its own included.
template <class T, class Op>
[[nodiscard]] T scan(Node& node, T value, Op op) {
  if constexpr (impl::check_reduction<T, Op>()) {
    const std::optional<T> before = impl::scan_before(node, value, op);
    if (before) return static_cast<T>(op(*before, value));
  }
  return value;
}

/// The values of all nodes, by node.
template <class T>
[[nodiscard]] std::vector<T> all_gather(Node& node, const T& value) {
  std::vector<T> values;
  if constexpr (impl::check_collective<T>()) {
    const std::size_t bytes = node.size() * sizeof(T);
    const auto buffer = std::make_unique<std::byte[]>(bytes);
    std::memcpy(buffer.get() + node.id() * sizeof(T), &value, sizeof(T));
    impl::all_gather_bytes(node, {buffer.get(), bytes}, sizeof(T));
    values.reserve(node.size());
    for (std::size_t at = 0; at < bytes; at += sizeof(T))
      values.push_back(impl::value_at<T>(buffer.get() + at));
  }
  return values;
}

}  // namespace am
