// What the control group of this process allows: a container, a batch system or systemd sets such limits, and
// the numbers that the machine shows (cores, memory) say nothing of them.
//
// Reads a few files below /proc and /sys, versions 1 and 2; whatever cannot be read counts as no limit. Any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace am::host {

struct ControlGroup {
  bool visible = false;  // false: /proc or /sys/fs/cgroup is missing, so there may be limits unseen
  std::optional<double> processors;  // processor time per time: 1.5 is one and a half cores
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> processes;  // and threads, of everything in the group together
};

// Each limit is the lowest on the way from this process's group up to the root. `root` is put before every
// path: tests give a folder of their own.
ControlGroup read_control_group(const std::string& root = "");

}  // namespace am::host
