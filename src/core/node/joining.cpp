#include "core/node/joining.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <am/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "core/events/handler_names.hpp"
#include "core/reports/card_words.hpp"
#include "core/reports/once.hpp"
#include "core/reports/text_out.hpp"
#include "host/clock.hpp"
#include "host/control_group.hpp"
#include "host/counted.hpp"
#include "host/hash.hpp"
#include "host/heavy_fence.hpp"
#include "host/job_clock.hpp"
#include "host/kernel_id.hpp"
#include "host/pid_namespace.hpp"
#include "host/processors.hpp"
#include "host/standstill.hpp"

namespace am::core {

namespace {

void copy_text(char* to, std::size_t room, const std::string& text) noexcept {
  const std::size_t n = std::min(room - 1, text.size());
  std::memcpy(to, text.data(), n);
  to[n] = 0;
}

std::string this_program() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : std::string("?");
}

std::string this_host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

/// "2, 3, 5". Of a node that is absent nothing but its standing may be read: its facts may be just about to come.
std::string missing_nodes(const host::Board& board, const Hosts& hosts, bool here) {
  std::string missing;
  for (NodeId node = 0; node < board.nodes(); ++node) {
    const bool counts = !here || std::ranges::binary_search(hosts.here(), node);
    if (counts && board.standing(node) == host::Standing::absent)
      missing += (missing.empty() ? "" : ", ") + std::to_string(node);
  }
  return missing;
}

}  // namespace

Joining::Joining(const Job& job, const Settings& settings, const HandlerTable& table, const Hosts& hosts)
    : job_(job), settings_(settings), table_(table), hosts_(hosts), bell_(board(), job.id) {
  take_place();
  card().segment_bytes = settings_.segment_bytes;  // networks are given the segment
}

void Joining::take_place() {
  const std::string node = "node " + std::to_string(job_.id);
  host::LifeLock& life = board().life(job_.id);
  if (!life.take())
    throw Error("join the job", node + " is already taken by another process", "start one process per node");
  life_.emplace(life);
  if (board().standing(job_.id) != host::Standing::absent)
    throw Error("join the job", node + " has run already, and cannot begin anew",
                "start one process per node");
}

void Joining::fill_in_card(std::uint64_t mapped_at) {
  host::NodeCard& own = card();
  own.pid = getpid();
  own.tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  own.pid_namespace = host::own_pid_namespace();
  own.child_of_launcher = job_.child_of_launcher ? 1 : 0;
  own.has_handler_thread = settings_.dispatch == Dispatch::thread ? 1 : 0;
  own.signal = settings_.dispatch == Dispatch::interrupt ? settings_.signal : 0;
  own.wait_status.store(host::unknown_end, std::memory_order_relaxed);  // with standing
  const std::string clock = host::kernel_id();
  own.clock = clock.empty() ? 0 : host::hash_of(clock);
  own.epoch_ns = board().job().epoch_ns.load(std::memory_order_relaxed);
  own.fingerprint = table_.fingerprint();
  own.handlers = static_cast<std::uint32_t>(table_.size());
  own.mapped_at = mapped_at;
  own.survives.store(settings_.peer_death == PeerDeath::survive ? 1 : 0, std::memory_order_relaxed);
  copy_text(own.program, sizeof own.program, this_program());
  copy_text(own.host, sizeof own.host, this_host());
  host::publish_cpus(own);
  if (!job_.memory->commit_node(job_.id, table_.size()) ||
      (first_here() && !job_.memory->commit_handler_names(table_.size()))) {
    throw Error("join the job",
                "no memory for what node " + std::to_string(job_.id) + " counts in the job's shared memory",
                host::SharedFile::more_room);
  }
  if (!first_here()) return;
  publish_handler_names(table_, board());  // released to the others by `joined`, as the cards are
  board().job().cpu_quota =
      static_cast<std::uint32_t>(std::ceil(host::read_control_group().processors.value_or(0)));
}

void Joining::meet_others() {
  // Release: whoever counts us in (wait_for) sees the card.
  card().standing.store(static_cast<std::uint32_t>(host::Standing::joined), std::memory_order_release);
  const std::size_t joined = board().job().joined.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (joined == hosts_.here().size()) nudge_all_here();
  if (hosts_.count() > 1) wait_for(static_cast<NodeId>(hosts_.here().size()), true);
  const bool launcher_meets_them = board().job().launcher != 0;
  if (hosts_.count() > 1 && first_here() && !launcher_meets_them) meet_other_hosts();
  wait_for(job_.size, false);
  compare_programs();
  compare_pid_namespaces();
}

void Joining::nudge_all_here() const noexcept {
  for (const NodeId node : hosts_.here()) host::nudge(board(), node);
}

/// By the first node of the host.
void Joining::meet_other_hosts() const {
  try {
    if (!job_.exchange_cards)
      throw Error("join the job", "it has several hosts, and no way between them", "start it on one host");
    job_.exchange_cards();
  } catch (const Error& error) {
    cannot_join(error, "the hosts of the job do not meet");
  }
}

/// Until so many nodes have joined, of this host (`here`) or of the job.
void Joining::wait_for(NodeId nodes, bool here) {
  const std::atomic<std::uint32_t>& joined = board().job().joined;
  std::uint64_t looked = host::running_ns(board().job());
  std::uint64_t waited = 0;
  bool reported = false;
  publish_wait(card(), "am::start", now());
  while (joined.load(std::memory_order_acquire) < nodes) {
    constexpr std::uint64_t nap_ns = 250'000'000;  // whoever joins last ends it
    const std::uint64_t nap = host::running_ns(board().job()) - looked;
    waited += std::min(nap, 2 * nap_ns);  // a longer one: the process was stopped
    looked += nap;
    const std::string seconds = std::to_string(waited / 1'000'000'000) + " s";
    if (settings_.timeout_ns != 0 && waited > settings_.timeout_ns) {
      cannot_join(
          {"join the job", "no sign of node " + missing_nodes(board(), hosts_, here) + " after " + seconds,
           "does every node call am::start? AM_TIMEOUT sets how long that may take, 0 for ever"},
          "nodes are missing");
    }
    if (settings_.report_after_ns != 0 && waited > settings_.report_after_ns &&
        !std::exchange(reported, true) &&
        first_to_say(board(), "nodes have not called am::start", settings_.report_after_ns)) {
      TextOut(&write_to_stderr) << "am: node " << job_.id << " has waited " << seconds << " for node "
                                << missing_nodes(board(), hosts_, here) << " to call am::start\n";
    }
    if (board().launcher_has_ended())
      throw Error("join the job", "amrun ended while this node was starting", "start the job again");
    sleep(nap_ns);
  }
  publish_wait(card(), {}, 0);
}

/// Until somebody has joined, at most so long.
void Joining::sleep(std::uint64_t ns) noexcept {
  bell_.set(host::Alarm::sleeper);
  host::own_fence();  // before the look at the nudges
  if (!bell_.nudged()) bell_.sleep(host::monotonic_ns() + ns);
  bell_.clear();
}

std::uint64_t Joining::now() const noexcept { return host::JobClock(board().job()).now(); }

void Joining::cannot_join(const Error& error, const char* same_on_all) const {
  let_one_end_the_job(board(), job_.id, same_on_all);
  throw error;
}

void Joining::compare_programs() const {
  const host::NodeCard& first = board().card(0);
  const host::NodeCard& own = board().card(job_.id);
  if (own.fingerprint == first.fingerprint && own.handlers == first.handlers) return;
  std::string difference = difference_of_handlers(table_, job_.id, board());
  if (difference.empty()) difference = shared_names(table_);
  cannot_join({"join the job",
               "node " + std::to_string(job_.id) + " runs " + own.program + " (" +
                   host::counted(own.handlers, "handler") + "), node 0 runs " + first.program + " (" +
                   std::to_string(first.handlers) + "); " + (difference.empty() ? "" : difference + ": ") +
                   "their handlers differ",
               "start the same build of one program on every node"},
              "their handlers differ");
}

/// Who interrupts a node sends a signal to its process by number.
void Joining::compare_pid_namespaces() const {
  const auto check = [&](NodeId interrupted, const std::string& who, std::uint64_t pid_namespace) {
    if (host::same_pid_namespace(board().card(interrupted).pid_namespace, pid_namespace)) return;
    throw Error("join the job",
                "node " + std::to_string(interrupted) +
                    " is interrupted by signals (AM_DISPATCH=interrupt), and " + who +
                    " is in another PID namespace, where its process number means another process",
                "run the job in one container, or with AM_DISPATCH=thread or poll");
  };
  const host::NodeCard& own = board().card(job_.id);
  const host::JobHeader& job = board().job();
  for (const NodeId peer : hosts_.here()) {
    const host::NodeCard& other = board().card(peer);
    if (own.signal != 0) check(job_.id, "node " + std::to_string(peer), other.pid_namespace);
    if (other.signal != 0) check(peer, "node " + std::to_string(job_.id), own.pid_namespace);
  }
  if (own.signal != 0 && job.launcher != 0) check(job_.id, "amrun", job.launcher_pid_namespace);
}

}  // namespace am::core
