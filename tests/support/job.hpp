// The same test body on every substrate: nodes as threads, nodes as threads over a network that misbehaves by a seed,
// nodes as processes. A body is a function of a node; it fails by throwing (support/check.hpp).
//
//   using Order = test::OnEverySubstrate;
//   TEST_P(Order, ...) { run(3, [](am::Node& node) { ... }); }
//   INSTANTIATE_TEST_SUITE_P(Contract, Order, test::every_substrate, test::name_of);
//
// A body ends with node.barrier() where others may still need its node: a node that has left takes no messages.
// Deadlines here guard against hangs; no verdict depends on time.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <am/draft.hpp>
#include <am/events.hpp>
#include <am/start.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "core/engine.hpp"
#include "core/settings.hpp"
#include "support/check.hpp"
#include "support/random.hpp"
#include "transports/shm/segment.hpp"

namespace test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How many rounds of something: all of them, or a share where a sanitizer makes each a hundred times as dear.
constexpr std::uint64_t rounds(std::uint64_t n) { return sanitized ? (n + 19) / 20 : n; }

using Body = std::function<void(am::Node&)>;

enum class Nodes { threads, threads_with_faults, processes };

/// What a body runs on: what the nodes are, and how their handlers run.
struct Substrate {
  Nodes nodes = Nodes::threads;
  am::Dispatch dispatch = am::Dispatch::poll;
};

constexpr const char* to_string(Nodes nodes) {
  switch (nodes) {
    case Nodes::threads:
      return "threads";
    case Nodes::threads_with_faults:
      return "threads_with_faults";
    case Nodes::processes:
      return "processes";
  }
  return "?";
}
/// "threads" in the polling mode, else "threads_interrupt".
inline std::string to_string(const Substrate& substrate) {
  std::string name = to_string(substrate.nodes);
  if (substrate.dispatch != am::Dispatch::poll) (name += '_') += am::to_string(substrate.dispatch);
  return name;
}
inline void PrintTo(const Substrate& substrate, std::ostream* out) { *out << to_string(substrate); }
inline std::string name_of(const testing::TestParamInfo<Substrate>& info) { return to_string(info.param); }

inline std::vector<Substrate> substrates(std::initializer_list<Nodes> nodes,
                                         std::initializer_list<am::Dispatch> modes) {
  std::vector<Substrate> all;
  for (const am::Dispatch mode : modes) {
    for (const Nodes each : nodes) all.push_back({each, mode});
  }
  return all;
}

// ThreadSanitizer holds signals back until a thread calls the system, so that it cannot interrupt one that computes.
#if defined(__SANITIZE_THREAD__)
inline constexpr auto every_mode = {am::Dispatch::poll, am::Dispatch::thread};
#else
inline constexpr auto every_mode = {am::Dispatch::poll, am::Dispatch::thread, am::Dispatch::interrupt};
#endif

inline const auto every_substrate =
    testing::ValuesIn(substrates({Nodes::threads, Nodes::threads_with_faults, Nodes::processes}, every_mode));
/// For bodies that count what fits into a ring: a network that refuses at random has other numbers.
inline const auto faultless_substrates =
    testing::ValuesIn(substrates({Nodes::threads, Nodes::processes}, every_mode));
/// For bodies that tell what a poll runs and what not: in the other modes much has run before.
inline const auto polling_substrates = testing::ValuesIn(
    substrates({Nodes::threads, Nodes::threads_with_faults, Nodes::processes}, {am::Dispatch::poll}));
inline const auto faultless_polling_substrates =
    testing::ValuesIn(substrates({Nodes::threads, Nodes::processes}, {am::Dispatch::poll}));

/// A variable of the environment, as long as this lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): before the job's threads are made
  }
  ~Environment() { unsetenv(name_); }  // NOLINT(concurrency-mt-unsafe): after they are gone
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

/// Joins a job as one of its nodes, on this thread, and runs the body.
inline void run_node(am::NodeId id, am::NodeId n, const std::shared_ptr<am::shm::Segment>& segment,
                     const Body& body, const am::core::Settings& settings) {
  am::core::Job job{.id = id, .size = n, .segment = segment, .found = "test", .processes = true, .leave = {}};
  am::Node node(std::make_unique<am::core::Engine>(std::move(job), settings));
  body(node);
}

/// TEST_SECONDS: how long a test shall last that may last longer.
inline std::optional<std::uint64_t> asked_seconds() {
  const char* text = std::getenv("TEST_SECONDS");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

/// Nodes as forked children of this process, which has one thread. Throws what the first of them that failed says.
class Processes {
 public:
  Processes(am::NodeId n, const Body& body) : segment_(am::shm::Segment::create(n)) {
    std::fflush(nullptr);
    for (am::NodeId id = 0; id < n; ++id) fork_node(id, n, body);
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() {
    end_all();
    for (const Child& child : children_) {
      if (child.pid > 0) waitpid(child.pid, nullptr, 0);
      if (child.text >= 0) close(child.text);
    }
  }

  void wait() {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(150 + asked_seconds().value_or(0));
    while (running_ != 0) {
      if (failure_.empty() && std::chrono::steady_clock::now() > deadline)
        failure_ = "a hang: " + still_running();
      if (!failure_.empty()) end_all();
      listen();
    }
    if (!failure_.empty()) throw std::runtime_error(failure_);
  }

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

  void fork_node(am::NodeId id, am::NodeId n, const Body& body) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) {
      close(ends[0]);
      run_child(id, n, body, ends[1]);
    }
    close(ends[1]);
    children_.push_back({.pid = pid, .text = ends[0]});
    ++running_;
  }

  [[noreturn]] void run_child(am::NodeId id, am::NodeId n, const Body& body, int text) const {
    std::string failure;
    try {
      run_node(id, n, segment_, body, am::core::read_settings(environ));
    } catch (const std::exception& error) {
      failure = error.what();
    } catch (...) {
      failure = "an exception of a strange type";
    }
    if (!failure.empty() && write(text, failure.data(), failure.size()) < 0) std::_Exit(2);
    std::fflush(nullptr);
    std::_Exit(failure.empty() ? 0 : 1);
  }

  /// Waits a little for any child to speak or end.
  void listen() {
    std::vector<pollfd> watched;
    for (const Child& child : children_) watched.push_back({child.text, POLLIN, 0});
    if (::poll(watched.data(), watched.size(), 1000) <= 0) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = read(children_[i].text, buffer, sizeof buffer);
      if (n > 0) {
        children_[i].said.append(buffer, static_cast<std::size_t>(n));
      } else {
        ended(i);
      }
    }
  }

  void ended(std::size_t i) {
    Child& child = children_[i];
    close(child.text);
    child.text = -1;
    int status = 0;
    waitpid(child.pid, &status, 0);
    child.pid = -1;
    --running_;
    const bool expected = WIFSIGNALED(status) && WTERMSIG(status) == child.expected_signal;
    if (status == 0 || expected || !failure_.empty()) return;
    failure_ = "node " + std::to_string(i) + ": ";
    if (!child.said.empty()) {
      failure_ += child.said;
    } else if (WIFSIGNALED(status)) {
      failure_ += "killed by signal " + std::to_string(WTERMSIG(status));
    } else {
      failure_ += "exit code " + std::to_string(WEXITSTATUS(status));
    }
  }

  [[nodiscard]] std::string still_running() const {
    std::string nodes;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (children_[i].pid > 0) nodes += " node " + std::to_string(i);
    }
    return "not ended:" + nodes;
  }

  void end_all() noexcept {
    for (const Child& child : children_) {
      if (child.pid > 0) kill(child.pid, SIGKILL);
    }
  }

  std::shared_ptr<am::shm::Segment> segment_;
  std::vector<Child> children_;
  std::size_t running_ = 0;
  std::string failure_;
};

/// Refusals, and packets that come late: a network as bad as the contract allows. The seed goes with the test's.
inline std::string fault_plan() {
  return "seed=" + std::to_string(seed() % 1'000'000) + ",refuse=0.1,delay=0.05";
}

/// Nodes as threads. When one of several fails the others may wait for it: so its failure ends this program, which runs
/// one test where ctest starts it.
inline void run_as_threads(am::NodeId n, const Body& body) {
  am::run_threads(n, [&](am::Node& node) {
    try {
      body(node);
    } catch (const std::exception& error) {
      if (n == 1) throw;
      std::fprintf(stderr, "[  FAILED  ] node %u: %s\n", node.id(), error.what());
      std::fflush(nullptr);
      std::_Exit(1);
    }
  });
}

/// Runs a job of n nodes and returns when all have ended. Throws the failure of the first node that failed.
inline void run_job(const Substrate& substrate, am::NodeId n, const Body& body) {
  seed();                                           // printed by this process, and the same for all nodes
  const Environment timeout("AM_TIMEOUT", "120s");  // a wait that hangs ends the node with a report
  const Environment dispatch("AM_DISPATCH", std::string(am::to_string(substrate.dispatch)));
  switch (substrate.nodes) {
    case Nodes::threads:
      run_as_threads(n, body);
      return;
    case Nodes::threads_with_faults: {
      const Environment faults("AM_FAULTS", fault_plan());
      run_as_threads(n, body);
      return;
    }
    case Nodes::processes:
      Processes(n, body).wait();
      return;
  }
}

/// A poll by a body that tries something again and again; lets others run where there are more nodes than cores.
inline void poll_or_yield(am::Node& node) {
  if (node.poll() == 0) std::this_thread::yield();
}

/// A job of one over shared memory, where everything that is sent is there at once: every order is exact.
inline void run_alone(const Body& body) { run_job({Nodes::threads}, 1, body); }

class OnEverySubstrate : public testing::TestWithParam<Substrate> {
 protected:
  /// GoogleTest reports what a node threw as this test's failure.
  static void run(am::NodeId n, const Body& body) { run_job(GetParam(), n, body); }
};

}  // namespace test
