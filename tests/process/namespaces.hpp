// Several hosts on this machine: network namespaces with host names of their own, joined by switches, which are in one more. Nothing
// of it is reached from outside, nor reaches out. Gone with the object.
#pragma once

#include "process/command.hpp"

namespace process_test {

inline const std::string enter_host = AM_TESTS_DIR "/process/enter_host.sh";

class Namespaces : test::Pinned {
 public:
  /// Each host has, on eth0, the address 10.77.0.N and fd77::N, N from 1.
  explicit Namespaces(std::size_t hosts) : prefix_("am" + std::to_string(getpid())) {
    ip({"netns", "add", name(0)});
    for (std::size_t host = 1; host <= hosts && works(); ++host) {
      ip({"netns", "add", name(host)});
      ip({"-n", name(host), "link", "set", "lo", "up"});
      connect(host, "eth0", "10.77.0.", "fd77::");
    }
    hosts_ = hosts;
  }
  ~Namespaces() {
    for (std::size_t host = 0; host <= hosts_; ++host) run({"ip", "netns", "del", name(host)});
  }

  /// Without rights, or without the program ip, there are none: what it says then is a reason to skip the test.
  [[nodiscard]] bool works() const { return problem_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// From 1 on; the switches are in 0.
  [[nodiscard]] std::string name(std::size_t host) const { return prefix_ + "h" + std::to_string(host); }

  /// One more interface of a host, with addresses that begin so; those of one name have a switch of their own: with a common one a
  /// host would be reached past a cut cable, as it answers for all its addresses everywhere.
  void connect(std::size_t host, const std::string& interface, const std::string& v4, const std::string& v6) {
    if (switches_.insert(interface).second) {
      ip({"-n", name(0), "link", "add", "s" + interface, "type", "bridge"});
      ip({"-n", name(0), "link", "set", "s" + interface, "up"});
    }
    const std::string port = "p" + std::to_string(host) + interface;
    const std::string number = std::to_string(host);
    ip({"-n", name(0), "link", "add", port, "type", "veth", "peer", "name", interface, "netns", name(host)});
    ip({"-n", name(0), "link", "set", port, "master", "s" + interface, "up"});
    ip({"-n", name(host), "addr", "add", v4 + number + "/24", "dev", interface});
    ip({"-n", name(host), "addr", "add", v6 + number + "/64", "dev", interface, "nodad"});
    ip({"-n", name(host), "link", "set", interface, "up"});
    wait_until_up(host, interface);
  }
  /// Cuts the cable of a host, somewhere behind it: the interface itself does not see it.
  void cut(std::size_t host, const std::string& interface) {
    ip({"-n", name(0), "link", "set", "p" + std::to_string(host) + interface, "nomaster"});
  }
  /// The same for a shell, also on one of the hosts, and the opposite.
  [[nodiscard]] std::string cut_command(std::size_t host, const std::string& interface) const {
    return "ip -n " + name(0) + " link set p" + std::to_string(host) + interface + " nomaster";
  }
  [[nodiscard]] std::string mend_command(std::size_t host, const std::string& interface) const {
    return "ip -n " + name(0) + " link set p" + std::to_string(host) + interface + " master s" + interface;
  }
  /// By which mpirun's own processes talk.
  void let_launcher_use(const std::string& interface) { launchers_interface_ = interface; }

  /// The command on a host, words as they are.
  [[nodiscard]] std::vector<std::string> on(std::size_t host, const std::vector<std::string>& command) const {
    std::vector<std::string> all = {enter_host, name(host), "exec"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  /// So many nodes on each host, started by Open MPI.
  [[nodiscard]] std::vector<std::string> mpirun(std::size_t on_each, const std::vector<std::string>& program,
                                                const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> command = {"mpirun", "--allow-run-as-root", "--oversubscribe",
                                        "--mca",  "plm_rsh_agent",       enter_host,
                                        "--mca",  "oob_tcp_if_include",  launchers_interface_};
    for (const std::string& variable : environment) command.insert(command.end(), {"-x", variable});
    std::string hosts;
    for (std::size_t host = 1; host <= hosts_; ++host)
      hosts += (host == 1 ? "" : ",") + name(host) + ":" + std::to_string(on_each);
    command.insert(command.end(), {"--host", hosts, "-n", std::to_string(hosts_ * on_each)});
    command.insert(command.end(), program.begin(), program.end());
    return on(1, command);
  }

 private:
  void ip(std::vector<std::string> arguments) {
    if (!works()) return;
    arguments.insert(arguments.begin(), "ip");
    const Outcome outcome = run(arguments);
    if (outcome.exit_code == 0) return;
    for (const std::string& word : arguments) problem_ += word + " ";
    problem_ += ": " + outcome.err;
  }

  /// The kernel takes note later, and nodes call it down until then.
  void wait_until_up(std::size_t host, const std::string& interface) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (works() && run({"ip", "-n", name(host), "link", "show", interface}).out.find("state UP") ==
                          std::string::npos) {
      if (std::chrono::steady_clock::now() > deadline) problem_ = interface + " does not come up";
    }
  }

  const std::string prefix_;
  std::size_t hosts_ = 0;
  std::set<std::string> switches_;
  std::string launchers_interface_ = "eth0";
  std::string problem_;
};

}  // namespace process_test
