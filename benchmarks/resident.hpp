// What a process has of the machine's memory.

#pragma once

#include <string>

namespace ambench {

// A line of /proc/self/smaps_rollup: "Pss_Anon" is private memory, "Pss_Shmem" this process's share of shared pages, which the
// kernel divides among those who map them. Throws std::runtime_error where the kernel does not tell.
double resident_kib(const std::string& kind);

}  // namespace ambench
