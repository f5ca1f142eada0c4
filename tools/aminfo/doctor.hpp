// aminfo --doctor: is this machine fit for libam, and if not, which command mends it?
//
// A check looks at one thing and returns what it found; it changes nothing on the machine. `ok` needs no
// action, `warn` means that something works less well or will be missed later, `fail` that programs cannot
// run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aminfo {

enum class Level { ok, warn, fail };

struct Finding {
  Level level;
  std::string subject;
  std::string text;
  std::string mend;  // a command, or what to do; empty where nothing is to be done
};

// The job whose needs are compared with what this machine gives.
inline constexpr std::uint32_t job_nodes = 64;

// Each in the file of its name, but where another is named.
Finding check_shared_memory();            // check_shared_memory.cpp
std::vector<Finding> check_kernel();      // check_kernel.cpp: futex, membarrier, /proc, what is not used
std::vector<Finding> check_limits();      // check_limits.cpp: for a job of job_nodes
std::vector<Finding> check_processors();  // check_processors.cpp: cores, binding, quota
Finding check_host_name();                // check_host_name.cpp
Finding check_pmix();                     // check_pmix.cpp
Finding check_crypto();                   // check_crypto.cpp
Finding check_libfabric();                // libfabric.cpp
std::vector<Finding> check_settings();    // check_settings.cpp

// Reads the settings as a node does, AM_FAULTS included. Throws am::Error for the first malformed one.
void read_all_settings();

// AM_SEGMENT as this shell has it, its default where that is malformed; at least one page.
std::uint64_t segment_bytes();

// Prints every finding; 1 if one of them is a `fail`, else 0.
int run_doctor();

}  // namespace aminfo
