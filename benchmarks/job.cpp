#include "job.hpp"

#include <am/node.hpp>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "results/pinning.hpp"

namespace ambench {

namespace {

// Of the running ambench; its sibling programs lie there.
std::string own_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }

// One write per line, so that lines of several nodes do not mix.
void say(const std::string& line) {
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

std::string own_program(const std::string& name) { return own_folder() + "/../libexec/ambench/" + name; }

Finished run_under_amrun(const std::string& program, int nodes, const std::vector<std::string>& arguments,
                         const Launch& launch) {
  std::vector<std::string> command{own_folder() + "/amrun",        "-n",   std::to_string(nodes), "--bind",
                                   launch.bound ? "core" : "none", program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Finished finished = run(command, launch.environment);
  if (!finished.ok()) {
    throw std::runtime_error("the job of " + std::to_string(nodes) +
                             " nodes failed: " + finished.how_it_ended());
  }
  return finished;
}

Finished run_job(const std::string& measure, int nodes, const std::vector<std::string>& arguments,
                 const Launch& launch) {
  std::vector<std::string> all{"--child", measure};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_under_amrun(own_folder() + "/ambench", nodes, all, launch);
}

std::optional<CorePair> cores_of(const Finished& job) {
  const std::vector<int> cpus = job.cpus();
  if (cpus[0] < 0 || cpus[1] < 0 || cpus[0] == cpus[1]) return std::nullopt;
  return CorePair{cpus[0], cpus[1]};
}

void say_figure(const std::string& name, double value) {
  say("figure " + name + " " + std::to_string(value) + "\n");
}

void say_figures(const Figures& figures) {
  for (const auto& [name, value] : figures) say_figure(name, value);
}

void say_place(const am::Node& node) {
  if (node.id() < 2) say("cpu " + std::to_string(node.id()) + " " + std::to_string(pinned_cpu()) + "\n");
}

}  // namespace ambench
