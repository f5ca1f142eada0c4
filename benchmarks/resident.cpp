#include "resident.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ambench {

double resident_kib(const std::string& kind) {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    std::istringstream words(line);
    std::string name;
    double kib = 0;
    if (words >> name >> kib && name == kind + ":") return kib;
  }
  throw std::runtime_error("this kernel does not tell " + kind + " in /proc/self/smaps_rollup");
}

}  // namespace ambench
