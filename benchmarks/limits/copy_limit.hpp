// What this machine allows one core that copies once between private memory and pages that another process
// maps too.

#pragma once

#include <cstddef>

#include "limits/pair.hpp"

namespace ambench {

// memcpy from private memory, which nobody else wrote, into shared pages; GB/s.
double copy_gb_per_s(CorePair cores, std::size_t bytes);

// memcpy out of shared pages that the other core has just written, into private memory; GB/s.
double copy_fresh_gb_per_s(CorePair cores, std::size_t bytes);

}  // namespace ambench
