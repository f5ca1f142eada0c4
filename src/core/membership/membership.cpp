#include "core/membership/membership.hpp"

#include <sys/wait.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include "core/membership/launcher_watch.hpp"
#include "core/membership/standing.hpp"
#include "core/reports/job_watch.hpp"
#include "core/reports/once.hpp"
#include "core/reports/text_out.hpp"
#include "host/standstill.hpp"

namespace am::core {

namespace {

constexpr std::uint64_t lock_interval_ns = 250'000'000;
constexpr NodeId locks_per_look = 16;

/// Where only nodes of its own host can tell that it lives.
enum class Reach : std::uint8_t { ended, out_of_reach, nobody_knows };

void describe_end(TextOut& out, int wait_status, Reach reach) {
  if (wait_status != host::unknown_end && WIFSIGNALED(wait_status)) {
    out << "was killed by signal " << WTERMSIG(wait_status);
  } else if (wait_status != host::unknown_end && WIFEXITED(wait_status) && wait_status != 0) {
    out << "exited with code " << WEXITSTATUS(wait_status);
  } else {
    constexpr const char* text[] = {"ended without leaving the job", "lives and is out of reach",
                                    "ended without leaving the job, or is out of reach"};
    out << text[static_cast<std::size_t>(reach)];
  }
}

}  // namespace

Membership::Membership(const Job& job, const Settings& settings, const Onlooker& onlooker)
    : onlooker_(onlooker),
      board_(onlooker.board()),
      self_(job.id),
      looks_at_locks_(job.processes),
      supervised_(settings.memory_fd >= 0),
      gone_(job.size),
      suspects_(job.size) {}

void Membership::look_at_life_locks() noexcept {
  const std::uint64_t now = host::running_ns(board_.job());
  if (now - looked_at_ns_ <= lock_interval_ns) return;
  looked_at_ns_ = now;
  for (NodeId looks = std::min(board_.nodes(), locks_per_look); looks != 0; --looks) {
    const NodeId peer = next_lock_;
    next_lock_ = (next_lock_ + 1) % board_.nodes();
    const bool joined = board_.standing(peer) == host::Standing::joined && board_.is_here(peer);
    // A node says that it leaves before it lets go of its lock: mark_lost looks again.
    if (peer == self_ || !joined || board_.card(peer).child_of_launcher != 0 || board_.is_alive(peer))
      continue;
    const bool seen_before = suspects_[peer];
    suspects_[peer] = true;
    if (!supervised_ || seen_before) mark_lost(board_, peer);
  }
}

/// Other hosts hear of the end of a node here by its connections, and may have ended because of it before anybody here has looked at
/// its lock.
NodeId Membership::cause(NodeId seen) const noexcept {
  std::atomic<std::uint32_t>& first = board_.job().first_death;  // written before the standing that was seen
  const std::uint32_t note = first.load(std::memory_order_relaxed);
  const NodeId noted = note != 0 ? note - 1 : seen;
  if (board_.is_here(noted) || !looks_at_locks_) return noted;
  for (NodeId node = 0; node < board_.nodes(); ++node) {
    const host::Standing standing = board_.standing(node);
    const bool ended = standing == host::Standing::joined && !board_.is_alive(node);
    const bool followed =
        board_.card(node).ended_with.load(std::memory_order_relaxed) != 0;  // before its lock is free
    if (node == self_ || !board_.is_here(node) || followed || !(ended || standing == host::Standing::dead))
      continue;
    first.store(node + 1, std::memory_order_relaxed);
    mark_lost(board_, node);
    return node;
  }
  return noted;
}

void Membership::end_with_launcher() const noexcept { core::end_with_launcher(board_, self_); }

/// In an interrupt, too: takes no memory.
void Membership::end_with(NodeId peer) const noexcept {
  const host::NodeCard& dead = board_.card(peer);
  board_.card(self_).ended_with.store(peer + 1, std::memory_order_relaxed);  // ordered by this node's end
  const int wait_status = dead.wait_status.load(std::memory_order_relaxed);  // written before standing
  if (supervised_ && wait_status != host::unknown_end)
    std::_Exit(1);  // amrun says who died, and ends the others
  // On another host amrun may know how it died: then it says so, and ends this node meanwhile.
  constexpr timespec while_amrun_tells{.tv_sec = 1, .tv_nsec = 0};
  if (supervised_ && !board_.is_here(peer)) nanosleep(&while_amrun_tells, nullptr);
  char death[32] = "death of ";
  *std::to_chars(death + 9, death + sizeof death - 1, peer).ptr = 0;
  if (!first_to_say(board_, death, for_good_ns)) std::_Exit(1);
  TextOut out(&write_to_stderr);
  const bool recorded = dead.events.load(std::memory_order_acquire) != 0;
  if (recorded && may_report_death(board_, peer)) describe_node(out, onlooker_, peer);
  out << "am: node " << self_ << ": node " << peer << " (pid " << dead.pid << ", host " << dead.host << ") ";
  describe_end(out, wait_status,
               !board_.is_here(peer)   ? Reach::nobody_knows
               : board_.is_alive(peer) ? Reach::out_of_reach
                                       : Reach::ended);
  out << "; ending with it";
  if (runs_something(onlooker_, peer)) {
    out << " (it ran ";
    describe_running(out, onlooker_, peer);
    out << ")";
  }
  out << "\n";
  out.flush();
  std::_Exit(1);
}

}  // namespace am::core
