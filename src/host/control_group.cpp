#include "host/control_group.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace am::host {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Nothing for "max", "-1" and whatever else is no number.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
void lower(std::optional<T>& limit, std::optional<T> to) {
  if (to && (!limit || *to < *limit)) limit = to;
}

std::optional<double> share(std::string_view quota_us, std::string_view period_us) {
  const auto quota = number(quota_us);
  const auto period = number(period_us);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// Version 1 says "no limit" with the largest number of whole pages.
std::optional<std::uint64_t> limited(std::optional<std::uint64_t> value) {
  constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;
  return value && *value < unlimited ? value : std::nullopt;
}

void read_version_2(const std::string& folder, ControlGroup& group) {
  const std::string cpu = first_line(folder + "/cpu.max");  // "150000 100000" or "max 100000"
  const std::size_t blank = std::min(cpu.find(' '), cpu.size());
  const std::string_view line = cpu;
  lower(group.processors, share(line.substr(0, blank), line.substr(std::min(blank + 1, line.size()))));
  lower(group.memory_bytes, limited(number(first_line(folder + "/memory.max"))));
  lower(group.processes, limited(number(first_line(folder + "/pids.max"))));
}

void read_version_1(const std::string& controller, const std::string& folder, ControlGroup& group) {
  if (controller == "cpu") {
    lower(group.processors,
          share(first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us")));
  } else if (controller == "memory") {
    lower(group.memory_bytes, limited(number(first_line(folder + "/memory.limit_in_bytes"))));
  } else if (controller == "pids") {
    lower(group.processes, limited(number(first_line(folder + "/pids.max"))));
  }
}

// Calls read(folder) for the group and all above it. Inside a container the path may be one of the host,
// which is not there: then the mount itself, the last one, is the container's group.
template <class Read>
void walk_up(const std::string& mount, const std::string& group, const Read& read) {
  for (std::size_t slash = group.size(); slash != std::string::npos && slash != 0;
       slash = group.rfind('/', slash - 1)) {
    read(mount + group.substr(0, slash));
  }
  read(mount);
}

}  // namespace

ControlGroup read_control_group(const std::string& root) {
  ControlGroup group;
  const std::string mounts = root + "/sys/fs/cgroup";
  std::error_code ignored;
  std::ifstream membership(root + "/proc/self/cgroup");
  for (std::string entry;
       std::getline(membership, entry);) {  // "4:cpu,cpuacct:/user" or, of version 2, "0::/user"
    const std::size_t first = entry.find(':');
    const std::size_t second = first == std::string::npos ? first : entry.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = entry.substr(first + 1, second - first - 1);
    const std::string path = entry.substr(second + 1);
    if (controllers.empty()) {
      group.visible = group.visible || std::filesystem::exists(mounts + "/cgroup.controllers", ignored);
      walk_up(mounts, path, [&](const std::string& folder) { read_version_2(folder, group); });
      continue;
    }
    std::istringstream list(controllers);
    for (std::string controller; std::getline(list, controller, ',');) {
      std::string mount = mounts;
      mount.append("/").append(controller);
      group.visible = group.visible || std::filesystem::exists(mount, ignored);
      walk_up(mount, path, [&](const std::string& folder) { read_version_1(controller, folder, group); });
    }
  }
  return group;
}

}  // namespace am::host
