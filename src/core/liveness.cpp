// Peers that die or leave (contract, clause 11).
//
// Who notices: under amrun, amrun itself, which marks the dead node's card and wakes everybody. Besides, each node's thread
// holds a lock that the kernel gives up with the thread (shm::LifeLock), and nodes that wait look at 16 of their peers' locks
// four times a second. Under amrun, too, at those that are not its children: where a wrapper outlives its node, amrun does not
// learn of the death. But it has the first word, because it may know how the node died: there a peer without lock is dead only
// when it still is unmarked at the next look. Either way the job's `deaths` counter changes, and one load of it tells a
// node that there is news.
//
// The end of amrun ends the node as well, whether it survives its peers' or not.
#include <sys/wait.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/card_words.hpp"
#include "core/engine.hpp"
#include "core/job_watch.hpp"
#include "core/once.hpp"
#include "core/text_out.hpp"

namespace am::core {

namespace {

constexpr std::uint64_t lock_interval_ns = 250'000'000;
constexpr NodeId locks_per_look = 16;

void describe_end(TextOut& out, int wait_status) {
  if (wait_status != shm::unknown_end && WIFSIGNALED(wait_status)) {
    out << "was killed by signal " << WTERMSIG(wait_status);
  } else if (wait_status != shm::unknown_end && WIFEXITED(wait_status) && wait_status != 0) {
    out << "exited with code " << WEXITSTATUS(wait_status);
  } else {
    out << "ended without leaving the job";
  }
}

/// In an interrupt, too: takes no memory.
[[noreturn]] void end_with(const shm::Segment& segment, NodeId own, NodeId peer) noexcept {
  const shm::NodeCard& dead = segment.card(peer);
  char death[32] = "death of ";
  *std::to_chars(death + 9, death + sizeof death - 1, peer).ptr = 0;
  if (!first_to_say(segment, death, for_good_ns)) std::_Exit(1);
  TextOut out(&write_to_stderr);
  const bool recorded = dead.events.load(std::memory_order_acquire) != 0;
  if (recorded && may_report_death(segment, peer)) describe_node(out, segment, peer);
  out << "am: node " << own << ": node " << peer << " (pid " << dead.pid << ", host " << dead.host << ") ";
  describe_end(out, dead.wait_status.load(std::memory_order_relaxed));  // written before standing
  out << "; ending with it";
  if (runs_something(segment, peer)) {
    out << " (it ran ";
    describe_running(out, segment, peer);
    out << ")";
  }
  out << "\n";
  out.flush();
  std::_Exit(1);
}

}  // namespace

void Engine::look_after_peers(bool thoroughly) {
  shm::Segment& segment = *job_.segment;
  if (segment.launcher_has_ended()) end_with_launcher(segment, job_.id);
  if (thoroughly && job_.processes && now() - looked_after_ns_ > lock_interval_ns) {
    looked_after_ns_ = now();
    look_at_life_locks();
  }
  const std::uint32_t deaths = segment.job().deaths.load(std::memory_order_acquire);
  if (deaths == deaths_seen_) return;
  deaths_seen_ = deaths;
  for (NodeId peer = 0; peer < job_.size; ++peer) {
    const auto standing =
        static_cast<shm::Standing>(segment.card(peer).standing.load(std::memory_order_acquire));
    const bool gone = standing == shm::Standing::dead || standing == shm::Standing::left;
    if (gone && !gone_[peer] && peer != job_.id) peer_is_gone(peer, standing == shm::Standing::dead);
  }
}

void Engine::look_at_life_locks() {
  shm::Segment& segment = *job_.segment;
  const bool supervised = settings_.segment_fd >= 0;  // by amrun
  for (NodeId looks = std::min(job_.size, locks_per_look); looks != 0; --looks) {
    const NodeId peer = looked_after_;
    looked_after_ = (looked_after_ + 1) % job_.size;
    const shm::NodeCard& other = segment.card(peer);
    const bool joined = standing_of(other) == shm::Standing::joined;
    // A node says that it leaves before it lets go of its lock: mark_lost looks again.
    if (peer == job_.id || !joined || other.child_of_launcher != 0 || segment.is_alive(peer)) continue;
    const bool seen_before = suspects_[peer];
    suspects_[peer] = true;
    if (supervised && !seen_before) continue;
    segment.mark_lost(peer);
  }
}

void Engine::set_on_peer_death(std::function<void(Node&, NodeId)> f) {
  card().survives.store(f || settings_.peer_death == PeerDeath::survive ? 1 : 0, std::memory_order_relaxed);
  on_peer_death_ = std::move(f);
}

void Engine::peer_is_gone(NodeId peer, bool died) {
  gone_[peer] = true;
  network_->close(peer);
  if (!died) return;
  if (card().survives.load(std::memory_order_relaxed) == 0) {
    const int wait_status = job_.segment->card(peer).wait_status.load(std::memory_order_relaxed);
    if (settings_.segment_fd >= 0 && wait_status != shm::unknown_end)
      std::_Exit(1);  // amrun says who died, and ends the others
    end_with(*job_.segment, job_.id, peer);
  }
  if (on_peer_death_) {
    untold_deaths_.push_back(peer);
    something_else_ = true;
  }
}

}  // namespace am::core
