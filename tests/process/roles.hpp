// The program of these tests is also that of their jobs: started with --node and a role, it is a node that does what the role says.
#pragma once

#include <am/am.hpp>
#include <am/impl/interrupt_safe.hpp>
#include <am/start.hpp>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace process_test {

using Arguments = std::vector<std::string>;
/// Takes what stands behind its name; the result is the process's exit code.
using Role = int (*)(const Arguments&);

/// Those that a file adds: const Roles roles = {{"hang", hang}, ...}. No two files may have one name.
class Roles {
 public:
  Roles(std::initializer_list<std::pair<std::string, Role>> roles) {
    for (const auto& [name, role] : roles) {
      if (!all().emplace(name, role).second) throw std::logic_error("two roles are named " + name);
    }
  }
  /// ARGUMENTS: the role's name and its own ones.
  static int play(const Arguments& arguments) {
    am::impl::handlers_may_allocate = true;  // their handlers are written for every mode
    return all().at(arguments.at(0))({arguments.begin() + 1, arguments.end()});
  }

 private:
  static std::map<std::string, Role>& all() {
    static std::map<std::string, Role> roles;
    return roles;
  }
};

/// As a role, a function that takes no arguments.
template <int (*function)()>
int role(const Arguments& /*none*/) {
  return function();
}

/// As a role, what a node does, and then leaves.
template <void (*function)(am::Node&)>
int node_role(const Arguments& /*none*/) {
  function(am::start(0, nullptr));
  return 0;
}

/// As a role, one that catches libam's errors, and tells of them as programs do.
template <Role function>
int catching(const Arguments& arguments) {
  try {
    return function(arguments);
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

/// The node, when all have joined; its handlers find this object.
template <class State>
am::Node& start_with(State& state) {
  am::Node& node = am::start(0, nullptr);
  node.attach(state);
  node.barrier();
  return node;
}

inline std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace process_test
