// Where a suite of tests runs: on which networks, with nodes of which kind, in which mode. The rule is this file, and it
// keeps scripts/test.sh short however many networks there are:
//
//   - on the first network, shared memory, a suite runs on nearly its full product, nodes x modes, in the release build, and on
//     two cells of it in each sanitizer's;
//   - on each other one on one cell in each build, of other nodes and in another mode each time, and not at all where its
//     bodies are the same on every network; in ThreadSanitizer's build only what is about a network most of all;
//   - jobs of many nodes run once per network;
//   - on a network that is like another one only what is about a network most of all runs, on one cell;
//   - what a network makes dear is repeated less often there: rounds() in support/job.hpp.
//
// The other cells are for a night (scripts/test.sh --all): they exist everywhere, and their names end in "_night".
//
// A new network is a row of `networks`. A suite says by its fixture (the end of support/job.hpp) what its bodies can run on.
#pragma once

#include <am/types.hpp>

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace test {

struct Network {
  std::string_view name;              ///< its AM_TRANSPORT, unless that is another
  std::uint64_t cost = 1;             ///< of a message; that of shared memory is 1
  bool interrupts = true;             ///< whether its nodes may be in the interrupt mode
  bool processes = true;              ///< whether its nodes may be processes
  std::string_view transport = name;  ///< of two hosts: what is between them
  bool threads = true;                ///< whether its nodes may be threads
  bool processes_by_day = processes;  ///< not where it costs a process much to open it: 170 ms of libfabric's
  /// Like one above, or like two of them, by another library: by day only suites with `everywhere` run there, in the plain build.
  bool rare = false;
  /// Whether it has cells in the sanitizers' builds by day. Not what two others here are made of, nor what has its own tests there.
  bool sanitized = true;
  /// Made of what others bring by day, or not to be relied on: all its cells are for a night.
  bool by_night = false;
  /// It has 1, 2, 4, ... nodes: bodies that want others are skipped.
  bool powers_of_two = false;
};

/// What all that go by libfabric have in common.
constexpr Network by_libfabric(Network network) {
  network.cost = 10;
  network.interrupts = false;
  return network;
}
/// A network of the tests, to everybody, or what leads between two hosts, in each of which nodes share memory (support/hosts.hpp).
constexpr Network pretended(Network network) {
  network.interrupts = network.processes = network.processes_by_day = false;
  return network;
}

inline constexpr std::array networks = {
    Network{.name = "shm"},
    Network{.name = "tcp", .cost = 2, .interrupts = false},
    Network{.name = "t1", .cost = 2},
    Network{.name = "mmachine", .cost = 2},
    Network{.name = "ncube2", .cost = 2, .sanitized = false, .powers_of_two = true},
    Network{.name = "cm5", .cost = 4, .sanitized = false},
    Network{.name = "iwarp", .cost = 2, .sanitized = false},
    Network{.name = "care", .cost = 2, .sanitized = false},
    Network{.name = "care_cube", .cost = 2, .transport = "care:cube", .rare = true, .powers_of_two = true},
    Network{.name = "cm5_swapped", .cost = 4, .transport = "cm5", .rare = true},
    by_libfabric({.name = "ofi_rxm", .transport = "ofi:tcp", .processes_by_day = false, .sanitized = false}),
    by_libfabric({.name = "ofi_net", .transport = "ofi:net", .processes_by_day = false, .rare = true}),
    by_libfabric({.name = "ofi_shm", .transport = "ofi:shm", .threads = false, .rare = true}),
    // Under load its packets are lost and sent again, and it forgets some (docs/libfabric.md).
    by_libfabric({.name = "ofi_rxd", .transport = "ofi:udp", .by_night = true}),
    pretended({.name = "post", .cost = 10, .transport = "post", .rare = true}),
    pretended({.name = "two_hosts", .cost = 10, .transport = "post", .sanitized = false}),
    pretended({.name = "two_hosts_tcp", .cost = 10, .transport = "tcp"}),
    pretended({.name = "two_hosts_tls", .cost = 10, .transport = "tcp", .rare = true}),  // encrypted
    pretended({.name = "two_hosts_ofi", .cost = 20, .transport = "ofi:tcp", .rare = true}),
    pretended({.name = "two_hosts_net", .cost = 20, .transport = "ofi:net", .by_night = true}),
};

enum class Nodes : std::uint8_t { threads, threads_with_faults, processes };

/// What a body runs on: what the nodes are, how their handlers run, and what carries their messages.
struct Substrate {
  Nodes nodes = Nodes::threads;
  am::Dispatch dispatch = am::Dispatch::poll;
  const Network* network = &networks.front();
  bool night = false;  ///< left to the night

  [[nodiscard]] constexpr bool is(Nodes its_nodes, am::Dispatch its_mode) const {
    return nodes == its_nodes && dispatch == its_mode;
  }
};

/// How this program was built.
enum class Build : std::uint8_t { plain, asan, tsan };
#if defined(__SANITIZE_THREAD__)
inline constexpr Build build = Build::tsan;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr Build build = Build::asan;
#else
inline constexpr Build build = Build::plain;
#endif

/// The modes in which nodes of this build can be. ThreadSanitizer holds signals back until a thread calls the system, so that
/// it cannot interrupt one that computes.
#if defined(__SANITIZE_THREAD__)
inline constexpr auto every_mode = {am::Dispatch::poll, am::Dispatch::thread};
#else
inline constexpr auto every_mode = {am::Dispatch::poll, am::Dispatch::thread, am::Dispatch::interrupt};
#endif

/// What the bodies of a suite are about.
enum class About : std::uint8_t {
  network,    ///< messages, however they travel
  node,       ///< what a node does by itself, or an interface above it: the same on every network
  many_nodes  ///< jobs of 64 nodes
};

/// What the bodies of a suite can run on, of what there is.
struct Suite {
  bool threads = true;
  bool faults = true;
  bool processes = true;
  bool polling = true;
  bool asynchronous = true;  ///< the thread and the interrupt mode
  About about = About::network;
  /// Its bodies are about a network most of all: it runs by day on rare networks, too, and on all in ThreadSanitizer's build.
  bool everywhere = false;

  [[nodiscard]] constexpr bool takes(Nodes nodes) const {
    return nodes == Nodes::threads ? threads : nodes == Nodes::processes ? processes : faults;
  }
  [[nodiscard]] constexpr bool takes(am::Dispatch mode) const {
    return mode == am::Dispatch::poll ? polling : asynchronous;
  }
};

/// Whether a cell runs whenever tests run. `first`: on the first network.
constexpr bool runs_by_day(const Substrate& cell, const Suite& suite, Build how, bool first) {
  using enum am::Dispatch;
  const Network& network = *cell.network;
  if (network.by_night || (network.rare && !suite.everywhere)) return false;
  if (suite.about == About::node && !first) return false;
  const bool in_release = how == Build::plain;
  const Nodes its_nodes = network.processes_by_day ? Nodes::processes : Nodes::threads;
  if (suite.about == About::many_nodes || network.rare) return in_release && cell.is(its_nodes, poll);
  if (!in_release && !network.sanitized) return false;
  const am::Dispatch quietest = suite.polling ? poll : thread;
  switch (how) {
    case Build::plain:
      return first ? !cell.is(Nodes::threads_with_faults, thread) : cell.is(its_nodes, quietest);
    case Build::asan:  // it looks for leaks at the end of a process; a forked child has none
      return (first && cell.is(Nodes::threads_with_faults, thread)) ||
             cell.is(Nodes::threads, network.interrupts && suite.asynchronous ? interrupt : quietest);
    case Build::tsan:  // it sees the threads of one process
      if (first && cell.is(Nodes::threads, poll)) return true;
      return (first || suite.everywhere) &&
             cell.is(suite.faults ? Nodes::threads_with_faults : Nodes::threads,
                     suite.asynchronous ? thread : poll);
  }
  return true;
}

/// The full product of a suite. `of` outlives it.
std::vector<Substrate> cells(const Suite& suite, std::span<const Network> of = networks, Build how = build);

/// "threads" over shared memory in the polling mode, else "tcp_threads_interrupt".
std::string to_string(const Substrate& substrate);

}  // namespace test
