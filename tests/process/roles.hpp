// The program of these tests is also that of their jobs: started with --node and a role, it is a node that does what the role says.
#pragma once

#include <am/am.hpp>
#include <am/impl/interrupt_safe.hpp>
#include <am/start.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>

namespace process_test {

using Arguments = std::vector<std::string>;

/// What a process does that is started with --node, this name, and arguments of its own: it ends with what `does` returns, or with 0.
/// No two may have one name.
class Role {
 public:
  /// Uncaught errors end it; others are told of as programs do.
  enum Errors : std::uint8_t { uncaught, told };

  /// `does` takes its arguments, or none, or is what a node does, which may take them, and then leaves.
  template <class F>
  Role(const std::string& name, F does) : Role(name, uncaught, does) {}
  template <class F>
  Role(const std::string& name, Errors errors, F does) {
    Function run = [does](const Arguments& arguments) {
      if constexpr (std::is_invocable_v<F, const Arguments&>) {
        return code_of([&] { return does(arguments); });
      } else if constexpr (std::is_invocable_v<F, am::Node&, const Arguments&>) {
        return code_of([&] { return does(am::start(0, nullptr), arguments); });
      } else if constexpr (std::is_invocable_v<F, am::Node&>) {
        return code_of([&] { return does(am::start(0, nullptr)); });
      } else {
        return code_of(does);
      }
    };
    if (errors == told) run = [run](const Arguments& arguments) { return telling(run, arguments); };
    if (!all().emplace(name, run).second) throw std::logic_error("two roles are named " + name);
  }
  /// ARGUMENTS: the role's name and its own ones.
  static int play(const Arguments& arguments) {
    am::impl::handlers_may_allocate = true;  // their handlers are written for every mode
    return all().at(arguments.at(0))({arguments.begin() + 1, arguments.end()});
  }

 private:
  using Function = std::function<int(const Arguments&)>;

  template <class F>
  static int code_of(F play) {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      play();
      return 0;
    } else {
      return play();
    }
  }
  static int telling(const Function& run, const Arguments& arguments) {
    try {
      return run(arguments);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }
  static std::map<std::string, Function>& all() {
    static std::map<std::string, Function> roles;
    return roles;
  }
};

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
