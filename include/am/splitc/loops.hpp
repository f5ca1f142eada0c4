// Loops over the elements that a node owns, in the layout of a spread array: for_my_1D, for_my_2D.
//
//   for (std::size_t k : my_elements(n)) ...
//   for (auto [i, j] : my_elements(rows, columns)) ...
#pragma once

#include <am/splitc/here.hpp>
#include <am/splitc/spread_ptr.hpp>
#include <cstddef>
#include <ranges>

namespace am::splitc {

/// The k below n that live here: MYPROC, MYPROC + PROCS, ...
[[nodiscard]] inline auto my_elements(std::size_t n) {
  const impl::Dealt end = impl::dealt(n);
  const std::size_t count = end.slot + (my_proc() < end.proc ? 1 : 0);
  return std::views::iota(std::size_t{0}, count) |
         std::views::transform([first = std::size_t{my_proc()}, step = std::size_t{procs()}](
                                   std::size_t slot) { return first + slot * step; });
}

struct Index2d {
  std::size_t i, j;
  friend bool operator==(const Index2d&, const Index2d&) = default;
};

/// The (i, j) that live here, of an array of rows x columns, row by row.
[[nodiscard]] inline auto my_elements(std::size_t rows, std::size_t columns) {
  return my_elements(rows * columns) | std::views::transform([columns](std::size_t k) {
           return Index2d{k / columns, k % columns};
         });
}

}  // namespace am::splitc
