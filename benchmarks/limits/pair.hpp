// Two processes of ambench's own, each pinned to a core, with anonymous memory that both map: where the limits of the machine
// are measured, and UCX. libam has no part in it.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace ambench {

// The two processors that a pair runs on.
struct CorePair {
  int first;
  int second;
};

// The first two cores of this process's share of the machine. Throws std::runtime_error where it has only
// one, with `measure` in it: two processes that spin on one core measure the scheduler, and that slowly.
CorePair measuring_cores(const std::string& measure);

// Runs `first` and `second` at the same time, each in a new process, on `cores`, over `bytes` of zeroed,
// touched memory; gives back what `first` returned. Throws std::runtime_error when one of them dies or takes
// over a minute.
double run_pair(CorePair cores, std::size_t bytes, const std::function<double(std::byte*)>& first,
                const std::function<void(std::byte*)>& second);

// The same, where `first` has several results: it writes them to where `results` are copied from. At most 512.
void run_pair(CorePair cores, std::size_t bytes, std::span<double> results,
              const std::function<void(std::byte*, double*)>& first,
              const std::function<void(std::byte*)>& second);

}  // namespace ambench
