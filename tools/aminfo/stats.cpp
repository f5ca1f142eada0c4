#include "aminfo/stats.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <am/error.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/reports/counters.hpp"
#include "host/memory.hpp"
#include "host/pid_namespace.hpp"

namespace aminfo {

namespace {

using am::Error;
using am::host::Standing;

Error failure(pid_t pid, std::string why, std::string remedy) {
  return Error("look into process " + std::to_string(pid), std::move(why), std::move(remedy));
}

Error system_failure(pid_t pid, int error) {
  if (error == ENOENT || error == ESRCH)
    return failure(pid, "there is no such process", "ps lists those there are");
  if (error == EACCES || error == EPERM)
    return failure(pid, "not permitted", "run aminfo as its user, or as root");
  return failure(pid, std::strerror(error), "");  // NOLINT(concurrency-mt-unsafe): one thread
}

// What the memory of a job is called among a process's descriptors: a memfd, or a nameless file where a sandbox forbids memfd.
bool may_be_memory(std::string_view target) {
  return target.starts_with("/memfd:libam") || target.starts_with("/dev/shm/#") ||
         target.starts_with("/tmp/#");
}

std::vector<std::string> candidates(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> open_files(opendir(folder.c_str()), &closedir);
  if (open_files == nullptr) throw system_failure(pid, errno);
  std::vector<std::string> paths;
  while (const dirent* entry = readdir(open_files.get())) {  // NOLINT(concurrency-mt-unsafe): one thread
    const std::string path = folder + "/" + entry->d_name;
    char target[256];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length > 0 && may_be_memory({target, static_cast<std::size_t>(length)})) paths.push_back(path);
  }
  return paths;
}

// Jobs of threads may share a process, so there may be several. Each once.
std::vector<std::shared_ptr<const am::host::Memory>> jobs_of(pid_t pid) {
  std::vector<std::shared_ptr<const am::host::Memory>> jobs;
  std::set<ino_t> seen;
  for (const std::string& path : candidates(pid)) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) continue;  // closed meanwhile
    if (fd < 0) throw system_failure(pid, errno);
    struct stat info {};
    std::uint64_t magic = 0;
    const bool ours = fstat(fd, &info) == 0 && pread(fd, &magic, sizeof magic, 0) == ssize_t{sizeof magic} &&
                      magic == am::host::magic && seen.insert(info.st_ino).second;
    if (!ours) {
      close(fd);
      continue;
    }
    jobs.push_back(am::host::Memory::inspect(fd));
  }
  return jobs;
}

std::string_view describe(Standing standing) {
  switch (standing) {
    case Standing::absent:
      return "has not joined";
    case Standing::joined:
      return "runs";
    case Standing::left:
      return "has left";
    case Standing::dead:
      return "is dead";
  }
  return "?";
}

void print_job(const std::shared_ptr<const am::host::Memory>& job) {
  const am::host::Board& board = job->board();
  for (am::NodeId node = 0; node < board.nodes(); ++node) {
    const am::host::NodeCard& card = board.card(node);
    const Standing standing = board.standing(node);
    if (!board.is_here(node)) {  // its counters are there
      const std::string where =
          standing == Standing::absent ? "on another host" : "on host " + std::string(card.host);
      std::printf("am: node %u: %s, %s\n", node, std::string(describe(standing)).c_str(), where.c_str());
      continue;
    }
    std::string text = am::core::counts_of(job, node);
    std::string who = ": " + std::string(describe(standing));
    if (standing != Standing::absent) who += ", process " + std::to_string(card.pid);
    if (!am::host::same_pid_namespace(card.pid_namespace, am::host::own_pid_namespace()))
      who += " of another PID namespace";
    text.insert(text.find('\n'), who);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

}  // namespace

int print_stats(pid_t pid) {
  const auto jobs = jobs_of(pid);
  if (jobs.empty()) {
    throw failure(
        pid, "it belongs to no libam job",
        "name a node of the job, or its amrun (of a job of several hosts, the \"amrun --part\" of one); "
        "AM_VERBOSE=1 tells how it joined");
  }
  for (const auto& job : jobs) print_job(job);
  return 0;
}

}  // namespace aminfo
