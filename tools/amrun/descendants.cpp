#include "amrun/descendants.hpp"

#include <dirent.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace amrun {
namespace {

constexpr const char* own_children = "/proc/thread-self/children";

// Whether there is anything to ask /proc about; takes nobody's exit code away.
bool have_children() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// The numbers of a process, one for each PID namespace that it is in, from that of /proc on inwards.
std::vector<pid_t> numbers_of(const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(sizeof "NSpid:"));
    return {std::istream_iterator<pid_t>(numbers), {}};
  }
  return {};
}

void add_children(const std::string& file, std::vector<Process>& found) {
  static const std::size_t depth = numbers_of("self").size();
  std::ifstream list(file);
  for (pid_t child = 0; list >> child;) {
    const std::vector<pid_t> numbers = depth > 1 ? numbers_of(std::to_string(child)) : std::vector{child};
    if (depth <= 1) {
      found.push_back({child, child});
    } else if (numbers.size() >= depth) {
      found.push_back({numbers[depth - 1], child});
    }
  }
}

// The folders of its threads.
std::vector<std::string> threads_of(const Process& process) {
  const std::string folder = "/proc/" + std::to_string(process.shown) + "/task/";
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir(folder.c_str()), closedir);
  while (const dirent* entry = threads ? readdir(threads.get()) : nullptr) {  // NOLINT(concurrency-mt-unsafe)
    if (entry->d_name[0] != '.') found.push_back(folder + entry->d_name);
  }
  return found;
}

// 'R', 'S', 'T' and so on; 'X' of one that is gone.
char state_of(const std::string& thread) {
  std::ifstream file(thread + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_ends = text.rfind(") ");  // the name may have brackets of its own
  return name_ends == std::string::npos || name_ends + 2 >= text.size() ? 'X' : text[name_ends + 2];
}

}  // namespace

bool children_are_shown() { return std::ifstream(own_children).is_open(); }

std::vector<Process> children() {
  std::vector<Process> found;
  if (have_children()) add_children(own_children, found);
  return found;
}

void visit_descendants(const Process& of, const std::function<void(const Process&)>& visit) {
  std::vector<Process> found;
  for (const std::string& thread : threads_of(of)) add_children(thread + "/children", found);
  for (const Process& child : found) {
    visit(child);
    visit_descendants(child, visit);
  }
}

Motion motion_of(const Process& process) {
  bool stopped = false;
  bool waits = false;
  for (const std::string& thread : threads_of(process)) {
    const char state = state_of(thread);
    stopped = stopped || state == 'T';
    waits = waits || state == 'D';
    if (std::string_view("TtDZX").find(state) == std::string_view::npos) return Motion::runs;
  }
  if (waits) return Motion::waits;
  return stopped ? Motion::stopped : Motion::still;
}

}  // namespace amrun
