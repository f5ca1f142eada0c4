// Limits of this shell and of its control group, against what a job of 64 nodes on this machine takes.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "aminfo/doctor.hpp"
#include "core/settings/setting_value.hpp"
#include "host/control_group.hpp"
#include "transports/shm/rings.hpp"

namespace aminfo {
namespace {

using Limit = std::optional<std::uint64_t>;  // nothing: unlimited

Limit limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

// `option` is ulimit's, which counts in units of so many bytes or things, and serves as far as the hard limit reaches;
// behind that is who started us, who knows the limit as `name`.
std::string raise(decltype(RLIMIT_AS) resource, std::uint64_t need, const std::string& option,
                  std::uint64_t unit, const std::string& name) {
  const std::string to = std::to_string((need + unit - 1) / unit);
  rlimit limit{};
  const bool reaches = getrlimit(resource, &limit) != 0 || limit.rlim_max >= need;
  // Docker's root lacks the right.
  const bool may_raise = geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_SYS_RESOURCE) == 1;
  if (reaches || may_raise) return "ulimit " + option + " " + to;
  return "the hard limit is in the way: docker run --ulimit " + name + "=" + std::to_string(need) +
         ", or '* hard " + name + " " + to + "' in /etc/security/limits.conf";
}

// `need` is in the unit of the limit; `show` writes either for people.
template <class Show>
Finding compare(std::string subject, Limit limit, std::uint64_t need, std::string mend, const Show& show,
                const std::string& with = "") {
  const std::string purpose = " for a job of " + std::to_string(job_nodes) + " nodes" + with;
  if (!limit) return {Level::ok, std::move(subject), "no limit", ""};
  if (*limit >= need) return {Level::ok, std::move(subject), show(*limit) + ", enough" + purpose, ""};
  return {Level::warn, std::move(subject), show(*limit) + ", less than " + show(need) + purpose,
          std::move(mend)};
}

std::string show_number(std::uint64_t value) { return std::to_string(value); }
std::string show_size(std::uint64_t bytes) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  return am::core::format_size(bytes < mebibyte ? bytes : bytes / mebibyte * mebibyte);
}

}  // namespace

std::vector<Finding> check_limits() {
  const am::host::ControlGroup group = am::host::read_control_group();
  constexpr std::uint64_t nodes = job_nodes;
  const std::uint64_t shared =
      am::host::Layout(job_nodes).board_bytes() + am::shm::Rings::bytes(job_nodes) + nodes * segment_bytes();
  const std::uint64_t address_space = shared + (std::uint64_t{1} << 30);  // and the program itself
  const std::uint64_t descriptors = nodes * 4 + 32;  // amrun: the pipes of each node, and its own
  const Limit processes = geteuid() == 0 ? std::nullopt : limit_of(RLIMIT_NPROC);  // root is not held to it

  std::vector<Finding> findings;
  findings.push_back(compare("memory", group.memory_bytes, shared,
                             "AM_SEGMENT=" + am::core::format_size(std::uint64_t{4} << 20) +
                                 ", or more memory for the container (docker run --memory)",
                             show_size, " that fill their segments"));
  findings.push_back(compare("address space", limit_of(RLIMIT_AS), address_space,
                             raise(RLIMIT_AS, address_space, "-v", 1024, "as"), show_size));
  findings.push_back(compare("open files", limit_of(RLIMIT_NOFILE), descriptors,
                             raise(RLIMIT_NOFILE, descriptors, "-n", 1, "nofile"), show_number,
                             " under amrun -l"));
  findings.push_back(compare("processes", processes, nodes * 2,
                             raise(RLIMIT_NPROC, nodes * 2, "-u", 1, "nproc"), show_number));
  if (group.processes) {
    findings.push_back(
        compare("tasks in group", group.processes, nodes * 2, "docker run --pids-limit 4096", show_number));
  }
  return findings;
}

}  // namespace aminfo
