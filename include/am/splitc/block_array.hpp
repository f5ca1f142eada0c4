// Block arrays: n values in as many blocks as there are nodes, one on each. Value k lives on node k / block(), so neighbours in
// the array are neighbours in memory; the last nodes have fewer, or none. (Split-C's own layout deals single values out: spread_ptr.)
//
//   block_array<double> a(n);                       double a[PROCS]::[(n + PROCS - 1) / PROCS];
//   a[k] = x; put(&a[k], x);                        a[k / block][k % block]
//   const std::span<double> mine = a.mine();        those that live here: a[a.first()] and so on
//   for (std::size_t k : my_elements(a)) mine[k - a.first()] = f(k);
//
// Small values that name the memory: copies name the same. all_spread_free gives it back. In a checked build an index that is
// none of the array's is an am::Error.
#pragma once

#include <algorithm>
#include <am/splitc/loops.hpp>
#include <am/splitc/spread_array.hpp>
#include <cstddef>
#include <span>

namespace am::splitc {

/// n values in as many blocks as there are nodes, one on each.
template <class T>
class block_array {
 public:
  block_array() = default;  ///< names none
  /// Collective: all nodes with the same n. Cleared. Throws am::Error as all_spread_malloc.
  explicit block_array(std::size_t n)
      : blocks_(impl::here.nodes, std::max<std::size_t>(share_of(n), 1)), size_(n) {}

  /// How many values there are.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t block() const noexcept { return blocks_.block(); }  ///< values on a node, at most
  /// The blocks, as a spread array.
  [[nodiscard]] const spread_array<T>& blocks() const noexcept { return blocks_; }

  [[nodiscard]] global_ref<T> operator[](std::size_t k) const {
    impl::must_be_below("a block array", k, size_);
    return blocks_[k / block()][static_cast<std::ptrdiff_t>(k % block())];
  }
  /// The node on which value k lives.
  [[nodiscard]] int owner(std::size_t k) const { return static_cast<int>(k / block()); }

  /// The first value of a node's, and the one behind its last: the same where it has none.
  [[nodiscard]] std::size_t first(int node) const noexcept { return begin_of(node); }
  [[nodiscard]] std::size_t end(int node) const noexcept { return begin_of(node + 1); }
  [[nodiscard]] std::size_t first() const noexcept { return first(my_proc()); }
  /// This node's values. It asks what node this is: loops ask once.
  [[nodiscard]] std::span<T> mine() const { return {blocks_.mine(), end(my_proc()) - first()}; }

 private:
  [[nodiscard]] std::size_t begin_of(int node) const noexcept {
    return std::min(size_, static_cast<std::size_t>(node) * block());
  }
  /// The largest of any node.
  static std::size_t share_of(std::size_t n) {
    const std::size_t nodes = world().node().size();
    return n / nodes + (n % nodes != 0 ? 1 : 0);
  }

  spread_array<T> blocks_;
  std::size_t size_ = 0;
};

/// The k that live here, one after the other.
template <class T>
[[nodiscard]] auto my_elements(const block_array<T>& array) {
  return impl::Elements<impl::Index1d>(array.first(), 1, array.mine().size(), {});
}

/// Gives the memory back. Collective.
template <class T>
void all_spread_free(const block_array<T>& array) {
  all_spread_free(array.blocks());
}

}  // namespace am::splitc
