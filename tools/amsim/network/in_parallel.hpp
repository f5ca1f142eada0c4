// Work on several threads, whose results do not depend on them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace amsim::network {

// Calls f(i) once for each i below `count`, on so many threads, this one among them; they begin in ascending order of i. Each thread
// calls begins(number of the thread) first. Throws what the least i threw, when all have ended.
template <class F, class Begins>
void in_parallel(std::size_t count, unsigned threads, F&& f, Begins&& begins) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> thrown(count);
  const auto work = [&](unsigned thread) {
    begins(thread);
    for (std::size_t i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        f(i);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;  // joined when this ends
    for (unsigned thread = 1; thread < std::min<std::size_t>(threads, count); ++thread)
      others.emplace_back(work, thread);
    work(0);
  }
  for (const std::exception_ptr& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

}  // namespace amsim::network
