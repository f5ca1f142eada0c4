#include "host/kernel_id.hpp"

#include <sys/stat.h>

#include <fstream>

namespace am::host {

std::string kernel_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  struct stat clock {};  // a container may have its own
  if (!id.empty() && stat("/proc/self/ns/time", &clock) == 0) id += " " + std::to_string(clock.st_ino);
  return id.substr(0, 63);
}

}  // namespace am::host
