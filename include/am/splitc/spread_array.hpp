// Spread arrays: T A[count]::[block] and T A[rows][columns]::[block]. What stands left of the `::` is dealt out over the nodes,
// rows first (row-major), one block after the other; what stands right of it is a block, in one piece on one node.
//
//   spread_array<int> a(procs(), n);         int a[PROCS]::[n];        a[p][i]       a.mine()[i]  is  ((int *)(a + MYPROC))[i]
//   spread_array_2d<int> x(v, w, q * r);     int x[v][w]::[q][r];      x(s, t)[i * r + j]
//
// Small values that name the memory: copies name the same. all_spread_free gives it back; at the end of a function
// local_spread_array does (local_array.hpp). In a checked build an index that is
// none of the array's is an am::Error.
#pragma once

#include <am/splitc/memory.hpp>
#include <cstddef>

namespace am::splitc {

namespace impl {

[[noreturn]] void index_outside(const char* what, std::size_t index, std::size_t count);

inline void must_be_below([[maybe_unused]] const char* what, [[maybe_unused]] std::size_t index,
                          [[maybe_unused]] std::size_t count) {
#ifdef AM_CHECKED
  if (index >= count) index_outside(what, index, count);
#endif
}

}  // namespace impl

/// Blocks that are dealt out over the nodes.
template <class T>
class spread_array {
 public:
  spread_array() = default;  ///< names none
  /// Collective: all nodes with the same sizes. Cleared. Throws am::Error as all_spread_malloc.
  explicit spread_array(std::size_t count, std::size_t block = 1)
      : first_(all_spread_malloc<T>(count, block)), count_(count), block_(block) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }   ///< blocks
  [[nodiscard]] std::size_t block() const noexcept { return block_; }  ///< values of T in each
  /// The first value of block 0.
  [[nodiscard]] spread_ptr<T> data() const noexcept { return first_; }

  /// The beginning of block k: a[k][i] is its value i.
  [[nodiscard]] global_ptr<T> operator[](std::size_t k) const {
    impl::must_be_below("a spread array", k, count_);
    const impl::Dealt at = impl::dealt(k);
    return first_.place().on(at.proc) + static_cast<std::ptrdiff_t>(at.slot * block_);
  }
  [[nodiscard]] static int owner(std::size_t k) { return static_cast<int>(impl::dealt(k).proc); }

  /// This node's blocks, one behind the other: (T *)(a + MYPROC). It asks what node this is: loops ask once.
  [[nodiscard]] T* mine() const { return first_.place().on(impl::here.node).local(world().node()); }
  [[nodiscard]] std::size_t my_blocks() const {
    const impl::Dealt end = impl::dealt(count_);
    return end.slot + (impl::here.node < end.proc ? 1 : 0);
  }

 private:
  spread_ptr<T> first_;
  std::size_t count_ = 0;
  std::size_t block_ = 0;
};

/// The same in rows and columns, row after row.
template <class T>
class spread_array_2d {
 public:
  spread_array_2d() = default;
  spread_array_2d(std::size_t rows, std::size_t columns, std::size_t block = 1)
      : blocks_(impl::times(rows, columns), block), rows_(rows), columns_(columns) {}

  /// How many rows of blocks there are.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// How many columns of blocks there are.
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  /// How many values of T a block has.
  [[nodiscard]] std::size_t block() const noexcept { return blocks_.block(); }
  [[nodiscard]] spread_array<T> blocks() const noexcept { return blocks_; }  ///< in row-major order

  /// The beginning of block (i, j).
  [[nodiscard]] global_ptr<T> operator()(std::size_t i, std::size_t j) const {
    impl::must_be_below("the rows of a spread array", i, rows_);
    impl::must_be_below("the columns of a spread array", j, columns_);
    return blocks_[i * columns_ + j];
  }
  [[nodiscard]] int owner(std::size_t i, std::size_t j) const {
    return spread_array<T>::owner(i * columns_ + j);
  }
  [[nodiscard]] T* mine() const { return blocks_.mine(); }
  [[nodiscard]] std::size_t my_blocks() const { return blocks_.my_blocks(); }

 private:
  spread_array<T> blocks_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
};

/// Gives the memory back. Collective.
template <class T>
void all_spread_free(const spread_array<T>& array) {
  all_spread_free(array.data());
}
template <class T>
void all_spread_free(const spread_array_2d<T>& array) {
  all_spread_free(array.blocks());
}

}  // namespace am::splitc
