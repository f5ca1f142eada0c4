// What all nodes do together: barrier, broadcast, reductions, scans, gather; and what one of them does alone.
//
// Every node makes the same calls in the same order (am/collectives.hpp). In a checked build a node that makes another call than
// the rest is an am::Error on all of them, which names both.
#pragma once

#include <algorithm>
#include <am/collectives.hpp>
#include <am/splitc/world.hpp>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace am::splitc {

/// Returns when all have entered. Polls. It completes no put, get or store that is under way: sync() and all_store_sync() do.
inline void barrier() {
  World& w = world();
  impl::agree(w, "barrier");
  w.node().barrier();
}

/// The value of node `root` on all of them: all_bcast, all_bcast_i, all_bcast_d.
template <class T>
[[nodiscard]] T all_bcast(T value, int root = 0) {
  World& w = world();
  impl::agree(w, "all_bcast", sizeof(T), static_cast<NodeId>(root));
  return am::broadcast(w.node(), value, static_cast<NodeId>(root));
}

/// The values of node `root` replace those of all others: of an array, a vector, a block_array's mine().
template <class T, std::size_t extent>
void all_bcast(std::span<T, extent> values, int root = 0) {
  World& w = world();
  impl::agree(w, "all_bcast", values.size_bytes(), static_cast<NodeId>(root));
  am::broadcast(w.node(), values, static_cast<NodeId>(root));
}

/// The values of all nodes, by node.
template <class T>
[[nodiscard]] std::vector<T> all_gather(const T& value) {
  World& w = world();
  impl::agree(w, "all_gather", sizeof(T));
  return am::all_gather(w.node(), value);
}

namespace impl {

// The operations of the reductions, and what they are called: the nodes compare the names.
using Known = am::impl::KnownOperation;

struct Add : std::plus<> {
  static constexpr Known known_operation = Known::sum;
  static constexpr const char* name = "add";
};
struct Mul : std::multiplies<> {
  static constexpr const char* name = "mul";
};
struct Max {
  static constexpr Known known_operation = Known::maximum;
  static constexpr const char* name = "max";
  template <class T>
  T operator()(const T& a, const T& b) const {
    return std::max(a, b);
  }
};
struct Min {
  static constexpr Known known_operation = Known::minimum;
  static constexpr const char* name = "min";
  template <class T>
  T operator()(const T& a, const T& b) const {
    return std::min(a, b);
  }
};
struct And : std::bit_and<> {
  static constexpr Known known_operation = Known::bit_and;
  static constexpr const char* name = "and";
};
struct Or : std::bit_or<> {
  static constexpr Known known_operation = Known::bit_or;
  static constexpr const char* name = "or";
};
struct Xor : std::bit_xor<> {
  static constexpr Known known_operation = Known::bit_xor;
  static constexpr const char* name = "xor";
};

template <class Op>
constexpr const char* name_of() noexcept {
  if constexpr (requires { Op::name; }) {
    return Op::name;
  } else {
    return "with an operation";
  }
}

}  // namespace impl

/// op over the values of all nodes, in their order, on all nodes.
template <class T, class Op>
[[nodiscard]] T all_reduce_to_all(T value, Op op) {
  World& w = world();
  impl::agree(w, "all_reduce_to_all");
  impl::agree(w, impl::name_of<Op>(), sizeof(T));
  return am::all_reduce(w.node(), value, op);
}
/// The same on node `root`; elsewhere nothing of use.
template <class T, class Op>
T all_reduce_to_one(T value, Op op, int root = 0) {
  World& w = world();
  impl::agree(w, "all_reduce_to_one", 0, static_cast<NodeId>(root));
  impl::agree(w, impl::name_of<Op>(), sizeof(T));
  return am::reduce(w.node(), value, op, static_cast<NodeId>(root)).value_or(value);
}
/// op over the values of the nodes up to this one, this one's included.
template <class T, class Op>
[[nodiscard]] T all_scan(T value, Op op) {
  World& w = world();
  impl::agree(w, "all_scan");
  impl::agree(w, impl::name_of<Op>(), sizeof(T));
  return am::scan(w.node(), value, op);
}

// The language's names; its forms for double, float and so on (..._dadd, ..._dmax) are the same calls with such values.
/// The sum of all nodes' values, on all nodes.
template <class T>
[[nodiscard]] T all_reduce_to_all_add(T value) {
  return all_reduce_to_all(value, impl::Add());
}
/// The product of all nodes' values, on all nodes.
template <class T>
[[nodiscard]] T all_reduce_to_all_mul(T value) {
  return all_reduce_to_all(value, impl::Mul());
}
/// The largest of all nodes' values, on all nodes.
template <class T>
[[nodiscard]] T all_reduce_to_all_max(T value) {
  return all_reduce_to_all(value, impl::Max());
}
/// The smallest of all nodes' values, on all nodes.
template <class T>
[[nodiscard]] T all_reduce_to_all_min(T value) {
  return all_reduce_to_all(value, impl::Min());
}
/// Bitwise and of all nodes' values, on all nodes.
template <class T>
[[nodiscard]] T all_reduce_to_all_and(T value) {
  return all_reduce_to_all(value, impl::And());
}
/// Bitwise or of all nodes' values, on all nodes.
template <class T>
[[nodiscard]] T all_reduce_to_all_or(T value) {
  return all_reduce_to_all(value, impl::Or());
}
/// Bitwise exclusive or of all nodes' values, on all nodes.
template <class T>
[[nodiscard]] T all_reduce_to_all_xor(T value) {
  return all_reduce_to_all(value, impl::Xor());
}
/// The same, on node 0 alone.
template <class T>
T all_reduce_to_one_add(T value) {
  return all_reduce_to_one(value, impl::Add());
}
/// The same, on node 0 alone.
template <class T>
T all_reduce_to_one_mul(T value) {
  return all_reduce_to_one(value, impl::Mul());
}
/// The same, on node 0 alone.
template <class T>
T all_reduce_to_one_max(T value) {
  return all_reduce_to_one(value, impl::Max());
}
/// The same, on node 0 alone.
template <class T>
T all_reduce_to_one_min(T value) {
  return all_reduce_to_one(value, impl::Min());
}
/// The same, on node 0 alone.
template <class T>
T all_reduce_to_one_and(T value) {
  return all_reduce_to_one(value, impl::And());
}
/// The same, on node 0 alone.
template <class T>
T all_reduce_to_one_or(T value) {
  return all_reduce_to_one(value, impl::Or());
}
/// The same, on node 0 alone.
template <class T>
T all_reduce_to_one_xor(T value) {
  return all_reduce_to_one(value, impl::Xor());
}
/// The same over the nodes up to this one.
template <class T>
[[nodiscard]] T all_scan_add(T value) {
  return all_scan(value, impl::Add());
}
/// The same over the nodes up to this one.
template <class T>
[[nodiscard]] T all_scan_mul(T value) {
  return all_scan(value, impl::Mul());
}
/// The same over the nodes up to this one.
template <class T>
[[nodiscard]] T all_scan_max(T value) {
  return all_scan(value, impl::Max());
}
/// The same over the nodes up to this one.
template <class T>
[[nodiscard]] T all_scan_min(T value) {
  return all_scan(value, impl::Min());
}
/// The same over the nodes up to this one.
template <class T>
[[nodiscard]] T all_scan_and(T value) {
  return all_scan(value, impl::And());
}
/// The same over the nodes up to this one.
template <class T>
[[nodiscard]] T all_scan_or(T value) {
  return all_scan(value, impl::Or());
}
/// The same over the nodes up to this one.
template <class T>
[[nodiscard]] T all_scan_xor(T value) {
  return all_scan(value, impl::Xor());
}

/// Runs f on node `proc`, nothing on the others. No barrier.
template <class F>
void on_proc(int proc, F&& f) {
  if (my_proc() == proc) std::forward<F>(f)();
}
/// The same on node 0.
template <class F>
void on_one(F&& f) {
  on_proc(0, std::forward<F>(f));
}

}  // namespace am::splitc
