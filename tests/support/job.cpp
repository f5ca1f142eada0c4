#include "support/job.hpp"

#include "support/hosts.hpp"

#include <am/impl/interrupt_safe.hpp>

namespace test {

[[maybe_unused]] const bool all_bear_interrupts =
    (am::impl::handlers_may_allocate = true);  // as tests' handlers do

void run_node(am::NodeId id, am::NodeId n, const std::shared_ptr<am::host::Memory>& memory, const Body& body,
              const am::core::Settings& settings) {
  am::core::Job job{.id = id, .size = n, .memory = memory, .found = "test", .processes = true, .leave = {}};
  am::Node node(std::make_unique<am::core::Engine>(std::move(job), settings));
  body(node);
}

std::optional<std::uint64_t> asked_seconds() {
  const char* text = std::getenv("TEST_SECONDS");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

Processes::Processes(am::NodeId n, const Body& body) : memory_(am::host::Memory::create(n)) {
  std::fflush(nullptr);
  for (am::NodeId id = 0; id < n; ++id) fork_node(id, n, body);
}

Processes::~Processes() {
  end_all();
  for (const Child& child : children_) {
    if (child.pid > 0) waitpid(child.pid, nullptr, 0);
    if (child.text >= 0) close(child.text);
  }
}

void Processes::wait() {
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

void Processes::fork_node(am::NodeId id, am::NodeId n, const Body& body) {
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

void Processes::run_child(am::NodeId id, am::NodeId n, const Body& body, int text) const {
  std::string failure;
  try {
    run_node(id, n, memory_, body, am::core::read_settings(environ));
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of a strange type";
  }
  if (!failure.empty() && write(text, failure.data(), failure.size()) < 0) std::_Exit(2);
  std::fflush(nullptr);
  std::_Exit(failure.empty() ? 0 : 1);
}

// Waits a little for any child to speak or end.
void Processes::listen() {
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

void Processes::ended(std::size_t i) {
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

std::string Processes::still_running() const {
  std::string nodes;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (children_[i].pid > 0) nodes += " node " + std::to_string(i);
  }
  return "not ended:" + nodes;
}

void Processes::end_all() noexcept {
  for (const Child& child : children_) {
    if (child.pid > 0) kill(child.pid, SIGKILL);
  }
}

// Refusals, packets that come late, and unordered ones that are overtaken: a network as bad as the contract allows. The seed goes with the test's.
static std::string fault_plan() {
  return "seed=" + std::to_string(seed() % 1'000'000) + ",refuse=0.1,delay=0.05,reorder=0.2";
}

/// A row of another table than am::kinds().
static bool is_pretended(const Network& network) {
  return network.name == "post" || network.name.starts_with("two_hosts");
}

void run_as_threads(const Network& network, am::NodeId n, const Body& body) {
  if (!is_pretended(network)) return am::run_threads(n, guarded(n, body));
  const bool apart = network.name != "post";
  PretendedHosts hosts(n, apart ? std::min<std::uint32_t>(n, 2) : 1,
                       apart ? PretendedHosts::Within::memory : PretendedHosts::Within::post,
                       network.transport);
  hosts.run(body);
}

void run_job(const Substrate& substrate, am::NodeId n, const Body& body) {
  seed();                                           // printed by this process, and the same for all nodes
  const Environment timeout("AM_TIMEOUT", "120s");  // a wait that hangs ends the node with a report
  const Environment dispatch("AM_DISPATCH", std::string(am::to_string(substrate.dispatch)));
  const Network& network = *substrate.network;
  if (network.powers_of_two && !std::has_single_bit(n)) GTEST_SKIP() << n << " nodes: no power of two";
  const Environment transport("AM_TRANSPORT",
                              is_pretended(network) ? "auto" : std::string(network.transport));
  const Environment swap("AM_CM5_SWAP", network.name == "cm5_swapped" ? "5ms" : "0");
  const Environment tls("AM_TCP_TLS", network.name == "two_hosts_tls" ? "1" : "0");
  if (substrate.nodes == Nodes::processes) return Processes(n, body).wait();
  std::optional<Environment> faults;
  if (substrate.nodes == Nodes::threads_with_faults) faults.emplace("AM_FAULTS", fault_plan());
  run_as_threads(network, n, body);
}

void run_with_killed(am::NodeId n, std::span<const am::NodeId> killed, const Body& body) {
  seed();
  const Environment timeout("AM_TIMEOUT", "120s");
  Processes job(n, body);
  for (const am::NodeId node : killed) job.expect_signal(node, SIGKILL);
  job.wait();
}

}  // namespace test
