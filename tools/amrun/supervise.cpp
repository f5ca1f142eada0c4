#include "amrun/supervise.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "amrun/ending.hpp"
#include "amrun/fault.hpp"
#include "core/membership/standing.hpp"
#include "host/clock.hpp"
#include "host/standstill.hpp"

namespace amrun {
namespace {

// From the polite request to the end.
constexpr std::uint64_t grace_ns = 1'000'000'000;
// For nodes to end by a SIGTERM that amrun got.
constexpr std::uint64_t patience_ns = 10'000'000'000;
// Between looks whether somebody joins after all.
constexpr std::uint64_t look_at_strangers_ns = 20'000'000;

std::string host_name() {
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Supervisor::Supervisor(Role role, const am::core::Onlooker& job, const Spawner& spawner,
                       const Signals& signals, Say say, std::uint64_t watchdog_ns)
    : role_(role),
      job_(job),
      board_(job.board()),
      spawner_(spawner),
      signals_(signals),
      say_(std::move(say)) {
  if (watchdog_ns != 0) watch_.emplace(job, watchdog_ns);
}

Supervisor::~Supervisor() {
  send_all(SIGKILL);
  for (const Node node : running_) waitpid(node.pid, nullptr, 0);
  leftovers_.end();
}

void Supervisor::add(am::NodeId node, pid_t pid) { running_.push_back({node, pid}); }

int Supervisor::run() {
  while (!running_.empty()) {
    watch();
    if (const auto info = signals_.wait(time_to_wait())) {
      take(*info);
    } else {
      look_at_clock(am::host::monotonic_ns());
    }
  }
  leftovers_.end();
  return exit_code_ != 0 || any_success_ ? exit_code_ : first_failure_;
}

void Supervisor::look_at_clock(std::uint64_t now_ns) {
  if (kill_at_ns_ && now_ns >= *kill_at_ns_) {
    send_all(SIGKILL);
    kill_at_ns_.reset();
  }
  if (insist_at_ns_ && now_ns >= *insist_at_ns_) {
    insist_at_ns_.reset();
    kill_job(SIGTERM, "10 s after");
  }
}

std::optional<std::uint64_t> Supervisor::time_to_wait() const {
  const std::uint64_t now_ns = am::host::monotonic_ns();
  std::optional<std::uint64_t> timeout_ns;
  for (const auto& at_ns : {kill_at_ns_, insist_at_ns_}) {
    if (!at_ns) continue;
    const std::uint64_t until_ns = *at_ns - std::min(now_ns, *at_ns);
    timeout_ns = std::min(timeout_ns.value_or(until_ns), until_ns);
  }
  if (watch_) {
    const std::uint64_t until_look_ns = next_look_ns_ - std::min(now_ns, next_look_ns_);
    timeout_ns = std::min(timeout_ns.value_or(until_look_ns), until_look_ns);
  }
  if (!strangers_.empty())
    timeout_ns = std::min(timeout_ns.value_or(look_at_strangers_ns), look_at_strangers_ns);
  return timeout_ns;
}

void Supervisor::watch() {
  look_at_strangers();
  const std::uint64_t now_ns = am::host::monotonic_ns();
  if (!watch_ || now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + watch_->interval_ns();
  std::string report =
      am::core::text_of([&](auto& out) { watch_->look(am::host::running_ns(board_.job()), out); });
  if (report.empty()) return;
  report.pop_back();  // its line end
  say_("a node makes no progress\n" + report);
}

void Supervisor::take(const siginfo_t& info) {
  if (info.si_signo == SIGCHLD) {
    collect();
  } else if (info.si_signo == Signals::notice()) {
    if (notice_called_) notice_called_();
  } else if (asks_again(info.si_signo)) {
    kill_job(info.si_signo, "after the second");
  } else {
    if (info.si_signo == SIGTERM) insist_at_ns_ = am::host::monotonic_ns() + patience_ns;
    pass_on(info);
  }
}

bool Supervisor::asks_again(int number) {
  if (number == SIGINT) return std::exchange(interrupted_, true);
  return number == SIGTERM && std::exchange(terminated_, true);
}

void Supervisor::pass_on(const siginfo_t& info) {
  const int number = info.si_signo;
  if (role_ == Role::in_gang && (number == SIGTSTP || number == SIGCONT)) return;
  if (number != SIGCONT) last_passed_on_ = number;
  // What the terminal sends (Ctrl-C, Ctrl-Z), it sends to the whole process group, and nodes are in ours
  // unless they have left it.
  const bool from_terminal = info.si_code == SI_KERNEL;
  for (const Node node : running_) {
    if (!from_terminal || getpgid(node.pid) != getpgrp()) kill(node.pid, number);
  }
  if (number == SIGTSTP && role_ != Role::part) kill(getpid(), SIGSTOP);
}

// Patience with what nodes make of that signal has ended.
void Supervisor::kill_job(int number, const char* when) {
  if (!ending_) {
    ending_ = true;
    ended_by_ = number;
    exit_code_ = signal_base + number;
    if (failure_told_) failure_told_(exit_code_);
    say_(std::string("the job was killed ") + when + " signal " + std::to_string(number) + " (" +
         strsignal(number) + ")");
  }
  send_all(SIGKILL);
}

void Supervisor::collect() {
  int wait_status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    const auto node = std::ranges::find(running_, pid, &Node::pid);
    if (node == running_.end()) {  // an orphan of a node, or a child that amrun had before
      leftovers_.collected(pid);
      continue;
    }
    const Node ended = *node;
    running_.erase(node);
    node_ended(ended, wait_status);
  }
}

void Supervisor::node_ended(Node node, int wait_status) {
  // Its last stores are seen: the kernel reports an end after it.
  const Standing standing = board_.standing(node.id);
  if (ending_) return;
  if (is_stranger(wait_status, standing)) {
    strangers_.push_back(node);
    look_at_strangers();
  } else if (has_failed(wait_status, standing)) {
    node_failed(node, wait_status, standing);
  } else {
    any_success_ = true;
  }
}

// They may be programs that know nothing of libam (amrun -n 2 hostname). But who joins waits for all.
void Supervisor::look_at_strangers() {
  if (ending_ || strangers_.empty()) return;
  if (board_.job().joined.load(std::memory_order_acquire) != 0) {
    node_failed(strangers_.front(), 0, Standing::absent);
    strangers_.clear();
  } else if (running_.empty() && exit_code_ == 0 &&
             role_ != Role::part) {  // else the head knows whether others have
    say_(amrun::nobody_joined(spawner_.program()));
  }
}

void Supervisor::node_failed(Node node, int wait_status, Standing standing) {
  // Also one that had left: it may have been killed between saying so and telling the others.
  if (standing == Standing::left) {
    am::core::mark_left(board_, node.id, wait_status);
  } else {
    am::core::mark_dead(board_, node.id, wait_status);
  }
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == last_passed_on_) ended_by_ = last_passed_on_;
  const int code = exit_code_for(wait_status);
  if (first_failure_ == 0) first_failure_ = code;
  const bool goes_on = ended_by_ == 0 && standing != Standing::absent && job_survives(node.id);
  // A job can do without a node that died. What a node says by its exit code, having left in good order, counts.
  if (exit_code_ == 0 && (!goes_on || standing == Standing::left)) exit_code_ = code;
  if (!goes_on && failure_told_) failure_told_(exit_code_);  // before the words about it
  report(node, wait_status, standing);
  if (!goes_on) end_job();
}

void Supervisor::report(Node node, int wait_status, Standing standing) {
  const Trouble trouble = spawner_.trouble(node.id);
  if (trouble.step != Trouble::Step::none) {
    say_(spawner_.describe(trouble));
  } else if (ended_by_ != 0) {
    say_("the job was ended by signal " + std::to_string(ended_by_) + " (" + strsignal(ended_by_) + ")");
  } else {
    const std::string running =
        am::core::text_of([&](auto& out) { am::core::describe_running(out, job_, node.id); });
    say_("node " + std::to_string(node.id) + " (pid " + std::to_string(node.pid) + ", host " + host_name() +
         ") " + how_it_ended(wait_status, standing) + (running.empty() ? "" : "; it ran " + running) +
         what_it_left(node.id));
  }
}

// What lay in its rings and ran last, where the nodes record that.
std::string Supervisor::what_it_left(am::NodeId dead) const {
  if (board_.card(dead).events.load(std::memory_order_acquire) == 0) return {};
  if (!am::core::may_report_death(board_, dead)) return {};
  std::string text = am::core::text_of([&](auto& out) { am::core::describe_node(out, job_, dead); });
  text.pop_back();
  return "\n" + text;
}

// Of this host's nodes, as those of others have an amrun of their own. Nodes that have not joined yet have no say: they learn of the
// death when they do.
bool Supervisor::job_survives(std::optional<am::NodeId> dead) const {
  for (am::NodeId id = 0; id < board_.nodes(); ++id) {
    if (!board_.is_here(id)) continue;
    const am::host::NodeCard& card = board_.card(id);
    const Standing standing = board_.standing(id);
    const bool counts = id == dead || standing == Standing::joined;
    if (counts && card.survives.load(std::memory_order_relaxed) != 1)
      return false;  // written before standing
  }
  return true;
}

void Supervisor::end_job() {
  if (ending_) return;
  ending_ = true;
  kill_at_ns_ = am::host::monotonic_ns() + grace_ns;
  send_all(SIGTERM);
  send_all(SIGCONT);  // one that is stopped would not hear
}

void Supervisor::abandon() {
  ending_ = true;
  send_all(SIGKILL);
}

void Supervisor::lost(std::span<const am::NodeId> nodes) {
  bool any = false;
  for (const am::NodeId node : nodes) {
    any = any || board_.standing(node) == Standing::joined;
    am::core::mark_lost(board_, node);
  }
  if (!any || ending_ || job_survives(std::nullopt)) return;
  if (exit_code_ == 0) exit_code_ = failed;
  if (failure_told_) failure_told_(exit_code_);
  end_job();
}

void Supervisor::send_all(int number) const {
  for (const Node node : running_) kill(node.pid, number);
}

}  // namespace amrun
