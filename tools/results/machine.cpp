#include "results/machine.hpp"

#include <sys/utsname.h>

#include <fstream>

#include "results/pinning.hpp"

namespace results {

namespace {

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

constexpr bool is_optimized() {
#if defined(NDEBUG) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

std::string kernel_release() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.kernel = kernel_release();
  machine.compiler = __VERSION__;
#if defined(__clang__)
  machine.compiler = "clang " + machine.compiler;
#elif defined(__GNUC__)
  machine.compiler = "gcc " + machine.compiler;
#endif
  machine.build_type = AM_BUILD_TYPE;
  if (machine.build_type.empty()) machine.build_type = "none";
  machine.cores = usable_cpus();
  machine.optimized = is_optimized();
  return machine;
}

}  // namespace results
