#include "limits/pair.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "results/pinning.hpp"

namespace ambench {

namespace {

constexpr unsigned patience_s = 60;
constexpr std::size_t result_bytes = 4096;  // a page: what follows is aligned for any use

// The memory of a pair: the results, then what the two work on.
class SharedPages {
 public:
  explicit SharedPages(std::size_t bytes) : bytes_(bytes + result_bytes) {
    start_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (start_ == MAP_FAILED)
      throw std::runtime_error(std::string("no shared memory: ") + std::strerror(errno));
  }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  ~SharedPages() { munmap(start_, bytes_); }

  [[nodiscard]] double* results() const { return static_cast<double*>(start_); }
  [[nodiscard]] std::byte* work() const { return static_cast<std::byte*>(start_) + result_bytes; }

 private:
  std::size_t bytes_;
  void* start_;
};

pid_t start_pinned(int cpu, const std::function<void()>& body) {
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(std::string("cannot fork: ") + std::strerror(errno));
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(patience_s);
  if (!results::pin_to(cpu)) _exit(2);
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, error.what());
    _exit(3);
  }
  _exit(0);
}

}  // namespace

CorePair measuring_cores(const std::string& measure) {
  const std::vector<int> cpus = results::core_cpus();
  if (cpus.size() < 2)
    throw std::runtime_error(measure + " takes two cores, and ambench may use only one: that of processor " +
                             std::to_string(cpus.front()));
  return {cpus[0], cpus[1]};
}

double run_pair(CorePair cores, std::size_t bytes, const std::function<double(std::byte*)>& first,
                const std::function<void(std::byte*)>& second) {
  double result = 0;
  run_pair(
      cores, bytes, {&result, 1}, [&](std::byte* memory, double* place) { *place = first(memory); }, second);
  return result;
}

void run_pair(CorePair cores, std::size_t bytes, std::span<double> results,
              const std::function<void(std::byte*, double*)>& first,
              const std::function<void(std::byte*)>& second) {
  const SharedPages pages(bytes);
  const pid_t one = start_pinned(cores.first, [&] { first(pages.work(), pages.results()); });
  const pid_t other = start_pinned(cores.second, [&] { second(pages.work()); });
  bool failed = false;
  for (int left = 2; left > 0; --left) {
    int status = 0;
    const pid_t ended = waitpid(0, &status, 0);  // the pair alone is in this process group
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    failed = true;
    if (left == 2) kill(ended == one ? other : one, SIGKILL);
  }
  if (failed) {
    throw std::runtime_error("could not measure with two processes on processors " +
                             std::to_string(cores.first) + " and " + std::to_string(cores.second));
  }
  std::copy_n(pages.results(), results.size(), results.begin());
}

}  // namespace ambench
