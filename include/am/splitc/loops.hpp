// Loops over the elements that a node owns, in the layout of a spread array: for_my_1D, for_my_2D.
//
//   for (std::size_t k : my_elements(n)) ...
//   for (auto [i, j] : my_elements(rows, columns)) ...
#pragma once

#include <am/splitc/here.hpp>
#include <am/splitc/spread_ptr.hpp>
#include <cstddef>
#include <iterator>

namespace am::splitc {

/// An element of a two-dimensional array.
struct Index2d {
  std::size_t i, j;
  friend bool operator==(const Index2d&, const Index2d&) = default;
};

namespace impl {

struct Index1d {
  [[nodiscard]] std::size_t operator()(std::size_t k) const noexcept { return k; }
};
struct RowByRow {
  std::size_t columns = 1;
  [[nodiscard]] Index2d operator()(std::size_t k) const noexcept { return {k / columns, k % columns}; }
};

/// first, first + step, ..., so many of them, each as index(k). A range of its own: clang 14 does not take views of libstdc++ 12.
template <class Index>
class Elements {
 public:
  class iterator {
   public:
    using value_type = decltype(Index()(0));
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // the older one: what it gives is a value
    using pointer = const value_type*;
    using reference = value_type;

    iterator() = default;
    iterator(std::size_t k, std::size_t step, Index index) noexcept : k_(k), step_(step), index_(index) {}
    value_type operator*() const noexcept { return index_(k_); }
    iterator& operator++() noexcept {
      k_ += step_;
      return *this;
    }
    iterator operator++(int) noexcept {
      const iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.k_ == b.k_; }

   private:
    std::size_t k_ = 0;
    std::size_t step_ = 1;
    Index index_{};
  };

  Elements(std::size_t first, std::size_t step, std::size_t count, Index index) noexcept
      : first_(first), step_(step), count_(count), index_(index) {}
  [[nodiscard]] iterator begin() const noexcept { return {first_, step_, index_}; }
  [[nodiscard]] iterator end() const noexcept { return {first_ + count_ * step_, step_, index_}; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

 private:
  std::size_t first_;
  std::size_t step_;
  std::size_t count_;
  Index index_;
};

template <class Index>
Elements<Index> my_elements_as(std::size_t n, Index index) {
  const Dealt end = dealt(n);
  return {here.node, here.nodes, end.slot + (here.node < end.proc ? 1 : 0), index};
}

}  // namespace impl

/// The k below n that live here: MYPROC, MYPROC + PROCS, ...
[[nodiscard]] inline auto my_elements(std::size_t n) { return impl::my_elements_as(n, impl::Index1d()); }

/// The (i, j) that live here, of an array of rows x columns, row by row.
[[nodiscard]] inline auto my_elements(std::size_t rows, std::size_t columns) {
  return impl::my_elements_as(rows * columns, impl::RowByRow{columns});
}

}  // namespace am::splitc
