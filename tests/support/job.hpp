// The same test body on every substrate: nodes as threads, nodes as threads over a network that misbehaves by a seed,
// nodes as processes. A body is a function of a node; it fails by throwing (support/check.hpp).
//
//   using Order = test::OnEverySubstrate;
//   TEST_P(Order, ...) { run(3, [](am::Node& node) { ... }); }
//   INSTANTIATE_TEST_SUITE_P(Contract, Order, test::cells_of<Order>(), test::name_of);
//
// Bodies run in every mode, so what handlers of both levels change, the low ones change in a critical section, and what the computation
// shares with handlers it touches in one, or in the predicate of a wait (docs/dispatch.md). A body ends with node.barrier() where others
// may still need its node: a node that has left takes no messages. Deadlines here guard against hangs; no verdict depends on time.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <am/draft.hpp>
#include <am/events.hpp>
#include <am/start.hpp>

#include <chrono>
#include <ostream>

#include "core/node/engine.hpp"
#include "core/settings/settings.hpp"
#include "host/memory.hpp"
#include "support/cells.hpp"
#include "support/check.hpp"
#include "support/pinned.hpp"
#include "support/random.hpp"

namespace test {

inline constexpr bool sanitized = build != Build::plain;

/// What the substrate of the test that runs costs, beside a plain build over shared memory (OnSubstrates sets it).
inline std::uint64_t cost_of_substrate = 1;

/// What a message costs in this build, beside a plain one: threads that meet on a few processors cost most.
inline constexpr std::uint64_t cost_of_build = build == Build::tsan ? 60 : build == Build::asan ? 40 : 1;

/// How many rounds of something: all of them, or a share, at least one, where each is dear. A sanitizer slows the processor
/// down and a dear network waits: they are not dear twice.
inline std::uint64_t rounds(std::uint64_t n) {
  const std::uint64_t cost = std::max(cost_of_substrate, cost_of_build);
  return (n + cost - 1) / cost;
}

using Body = std::function<void(am::Node&)>;

inline void PrintTo(const Substrate& substrate, std::ostream* out) { *out << to_string(substrate); }
inline std::string name_of(const testing::TestParamInfo<Substrate>& info) { return to_string(info.param); }

/// A variable of the environment, as long as this lives.
class Environment : test::Pinned {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): before the job's threads are made
  }
  ~Environment() { unsetenv(name_); }  // NOLINT(concurrency-mt-unsafe): after they are gone

 private:
  const char* name_;
};

/// Joins a job as one of its nodes, on this thread, and runs the body.
void run_node(am::NodeId id, am::NodeId n, const std::shared_ptr<am::host::Memory>& memory, const Body& body,
              const am::core::Settings& settings);

/// TEST_SECONDS: how long a test shall last that may last longer.
std::optional<std::uint64_t> asked_seconds();

/// Nodes as forked children of this process, which has one thread.
class Processes : test::Pinned {
 public:
  Processes(am::NodeId n, const Body& body);
  ~Processes();

  /// Until all have ended. Throws what the first of them that failed says.
  void wait();

  [[nodiscard]] pid_t pid(am::NodeId node) const { return children_[node].pid; }
  /// Nodes from which a death by this signal is no failure.
  void expect_signal(am::NodeId node, int signal) { children_[node].expected_signal = signal; }

 private:
  struct Child {
    pid_t pid = -1;
    int text = -1;  // what it says of its failure; closed by its end
    int expected_signal = 0;
    std::string said{};
  };

  void fork_node(am::NodeId id, am::NodeId n, const Body& body);
  [[noreturn]] void run_child(am::NodeId id, am::NodeId n, const Body& body, int text) const;
  void listen();
  void ended(std::size_t i);
  [[nodiscard]] std::string still_running() const;
  void end_all() noexcept;

  std::shared_ptr<am::host::Memory> memory_;
  std::vector<Child> children_;
  std::size_t running_ = 0;
  std::string failure_;
};

/// Nodes as threads. When one of several fails the others may wait for it: so its failure ends this program, which runs
/// one test where ctest starts it.
void run_as_threads(const Network& network, am::NodeId n, const Body& body);

/// Runs a job of n nodes and returns when all have ended. Throws the failure of the first node that failed.
void run_job(const Substrate& substrate, am::NodeId n, const Body& body);

/// A body whose nodes have a State each: made of its node where that can be, and attached to it.
template <class State, class F>
Body with_state(F body) {
  return [body](am::Node& node) {
    auto state = [&] {
      if constexpr (std::is_constructible_v<State, am::Node&>) {
        return State(node);
      } else {
        return State{};
      }
    }();
    node.attach(state);
    body(node, state);
  };
}

template <class State, class F>
void run_job(const Substrate& substrate, am::NodeId n, F body) {
  run_job(substrate, n, with_state<State>(body));
}

/// Runs a job of n processes of which some kill themselves. The others survive that, or say what failed.
void run_with_killed(am::NodeId n, std::span<const am::NodeId> killed, const Body& body);
inline void run_with_killed(am::NodeId n, am::NodeId killed, const Body& body) {
  run_with_killed(n, std::span(&killed, 1), body);
}

/// A poll by a body that tries something again and again; lets others run where there are more nodes than cores.
inline void poll_or_yield(am::Node& node) {
  if (node.poll() == 0) std::this_thread::yield();
}

/// Until a poll finds nothing to do.
inline void poll_until_quiet(am::Node& node) {
  while (node.poll() != 0) {
  }
}

/// Tries a send until the network has room for it.
template <class F>
am::Status send_when_there_is_room(am::Node& node, F&& try_send) {
  am::Status status = try_send();
  while (status == am::Status::again) {
    poll_or_yield(node);
    status = try_send();
  }
  return status;
}

/// A message of either priority: by a send that waits, or by attempts until there is room.
template <auto low, auto high, class To, class... Arguments>
am::Status send(am::Node& node, am::Priority priority, bool waits, To to, const Arguments&... arguments) {
  const bool is_low = priority == am::Priority::low;
  if (waits) return is_low ? node.request<low>(to, arguments...) : node.reply_to<high>(to, arguments...);
  return send_when_there_is_room(node, [&] {
    return is_low ? node.try_request<low>(to, arguments...) : node.try_reply_to<high>(to, arguments...);
  });
}

/// Calls try_send(number) until the network has had enough. How many messages it took.
template <class F>
std::uint64_t fill(F&& try_send) {
  std::uint64_t accepted = 0;
  for (int refused = 0; refused < 100;) {  // a network with faults refuses now and then though it is not full
    const am::Status status = try_send(accepted);
    check(status == am::Status::ok || status == am::Status::again, "a failable send answers ok or again");
    refused = status == am::Status::ok ? 0 : refused + 1;
    accepted += status == am::Status::ok ? 1 : 0;
    check(accepted < 100'000, "the network takes messages without end");
  }
  return accepted;
}

/// A job of one over shared memory, where everything that is sent is there at once: every order is exact.
inline void run_alone(const Body& body) { run_job({Nodes::threads}, 1, body); }
template <class State, class F>
void run_alone(F body) {
  run_job<State>({Nodes::threads}, 1, body);
}

/// The fixture of bodies that run on the cells of a suite (support/cells.hpp).
template <Suite asked>
class OnSubstrates : public testing::TestWithParam<Substrate> {
 public:
  static constexpr Suite suite = asked;

 protected:
  OnSubstrates() { cost_of_substrate = GetParam().network->cost; }
  ~OnSubstrates() override { cost_of_substrate = 1; }

  /// GoogleTest reports what a node threw as this test's failure.
  static void run(am::NodeId n, const Body& body) { run_job(GetParam(), n, body); }
  template <class State, class F>
  static void run(am::NodeId n, F body) {
    run_job<State>(GetParam(), n, body);
  }
};

using OnEverySubstrate = OnSubstrates<Suite{}>;
/// For what a network is asked most of all: on each network by day.
using OnEveryNetwork = OnSubstrates<Suite{.everywhere = true}>;
/// For bodies in which time alone makes progress.
using OnAsynchronousSubstrates = OnSubstrates<Suite{.polling = false}>;
/// For bodies that fill a network: one that refuses at random is full too early.
using OnFaultlessSubstrates = OnSubstrates<Suite{.faults = false}>;
/// For bodies that touch no network, and interfaces above libam's own.
using OnANode = OnSubstrates<Suite{.about = About::node}>;
/// For jobs of 64 nodes.
using OnManyNodes = OnSubstrates<Suite{.about = About::many_nodes}>;

/// Where the bodies of a fixture run.
template <class Fixture>
auto cells_of() {
  return testing::ValuesIn(cells(Fixture::suite));
}

}  // namespace test
