// How a node joins its job: it takes its place, fills in its card, waits for the others, and checks that all run the same
// program.
#include <sys/syscall.h>
#include <unistd.h>
#include <am/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "core/events/handler_names.hpp"
#include "core/node/engine.hpp"
#include "core/reports/card_words.hpp"
#include "core/reports/once.hpp"
#include "core/together/collectives.hpp"
#include "host/control_group.hpp"
#include "host/pid_namespace.hpp"
#include "host/processors.hpp"
#include "transports/faults/faults.hpp"
#include "transports/site.hpp"

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

/// "2, 3, 5"
std::string missing_nodes(const host::Board& board, bool here) {
  std::string missing;
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (board.standing(node) == host::Standing::absent && (!here || board.is_here(node)))
      missing += (missing.empty() ? "" : ", ") + std::to_string(node);
  }
  return missing;
}

NetworkOfPeers networks_for(const Job& job, const Settings& settings) {
  const auto wanted = parse_networks(settings.transport, job.kinds);
  if (!wanted)
    throw Error("choose the networks", "there is no network AM_TRANSPORT=" + settings.transport,
                "aminfo lists them");
  return choose_networks(*wanted, job.memory->board(), settings.dispatch == Dispatch::interrupt);
}

}  // namespace

Engine::Engine(Job job, const Settings& settings)
    : job_(std::move(job)),
      settings_(settings),
      memory_for_events_(settings.dispatch == Dispatch::interrupt),
      table_(HandlerTable::of_this_program()),
      handlers_(table_.rows()),
      epoch_ns_(job_.memory->board().job().epoch_ns),
      handler_counts_(job_.memory->board().handler_counts(job_.id)),
      recorder_(card(), Watchdog::is_wanted(settings)),
      onlooker_(job_.memory),
      membership_(job_, settings_, onlooker_),
      relay_(board(), job_.id),
      bell_(board(), job_.id),
      chosen_(networks_for(job_, settings_)),
      shm_(job_.memory, job_.id, settings.dispatch == Dispatch::poll ? impl::watch::on : impl::watch::briefly,
           Watchdog::is_wanted(settings)),
      joined_(join_networks()),
      decorator_(make_faults(joined_, settings_.faults, settings_.verbose, job_.id, job_.size)),
      network_(decorator_ ? decorator_.get() : &joined_),
      rings_filled_inline_(decorator_ == nullptr && settings.dispatch == Dispatch::poll),
      direct_(network_ == &shm_),
      plain_(direct_ && rings_filled_inline_),
      just_runs_(!Watchdog::is_wanted(settings) && settings.dispatch != Dispatch::interrupt),
      never_connected_(rings_filled_inline_ ? nullptr : new impl::Producer[2 * std::size_t{job_.size}]),
      outgoing_(memory_for_events()),
      assembler_(memory_for_events()),
      cut_off_(relay_.hosts().count() == 1 ? 0 : job_.size),
      agenda_(memory_for_events()),
      memory_(*this),
      collectives_(std::make_unique<CollectiveState>(memory_for_events())),
      forwarded_(memory_for_events()),
      multicast_buffer_(memory_for_events()),
      handled_(card()),
      spent_(memory_for_events()) {
  if (settings_.dispatch == Dispatch::interrupt) interrupt_.emplace(settings_.signal);
  join();
}

/// What a forked child has of its parent's networks is not its to end: it leaves them as they are.
Engine::~Engine() {
  if (!disowned_) return;
  for (std::unique_ptr<Transport>& network : others_) static_cast<void>(network.release());
}

/// Makes the networks that this node needs besides shared memory, and joins them to one.
Transport& Engine::join_networks() {
  take_place();
  std::vector<Transport*> all;
  std::vector<int> descriptors;
  for (const Wanted& network : chosen_.used) {
    if (!network.kind->make) {
      all.push_back(&shm_);
      continue;
    }
    others_.push_back(network.kind->make(
        {.self = job_.id, .memory = job_.memory, .options = network.options, .listener = &relay_}));
    all.push_back(others_.back().get());
    if (const int descriptor = all.back()->wake_fd(); descriptor >= 0) descriptors.push_back(descriptor);
  }
  if (!others_.empty()) {
    if (!job_.memory->commit_traffic(job_.id)) {
      throw Error("join the job",
                  "no memory for what node " + std::to_string(job_.id) + " counts about its messages",
                  host::SharedFile::more_room);
    }
    for (NodeId peer = 0; peer < job_.size; ++peer) board().set_linked(job_.id, peer);
  }
  if (!descriptors.empty()) descriptor_watch_.emplace(board(), job_.id, std::move(descriptors));
  if (all.size() == 1) return *all.front();
  return links_.emplace(std::move(all), chosen_.of_peer);
}

void Engine::attach(Node& node) {
  node_ = &node;
  node.id_ = job_.id;
  node.size_ = job_.size;
  node.dispatch_ = settings_.dispatch;
  node.shared_ = settings_.dispatch != Dispatch::poll;
  node.rings_ = rings_filled_inline_ ? shm_.producers() : never_connected_.get();
  node.traffic_ = board().traffic(job_.id);
  node.segments_ = memory_.peers();
  kept_from_children_.emplace(*this);
}

/// First of all: one that comes second, by mistake, must not touch the card, nor speak in the node's name.
void Engine::take_place() {
  const std::string node = "node " + std::to_string(job_.id);
  host::LifeLock& life = board().life(job_.id);
  if (!life.take())
    throw Error("join the job", node + " is already taken by another process", "start one process per node");
  life_.emplace(life);
  if (board().standing(job_.id) != host::Standing::absent)
    throw Error("join the job", node + " has run already, and cannot begin anew",
                "start one process per node");
}

void Engine::fill_in_card() {
  host::NodeCard& own = card();
  own.pid = getpid();
  own.tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  own.pid_namespace = host::own_pid_namespace();
  own.child_of_launcher = job_.child_of_launcher ? 1 : 0;
  own.has_handler_thread = settings_.dispatch == Dispatch::thread ? 1 : 0;
  own.signal = settings_.dispatch == Dispatch::interrupt ? settings_.signal : 0;
  own.wait_status.store(host::unknown_end, std::memory_order_relaxed);  // with standing
  own.fingerprint = table_.fingerprint();
  own.handlers = static_cast<std::uint32_t>(table_.size());
  own.segment_bytes = settings_.segment_bytes;
  own.mapped_at = shm_.rings().mapped_at();
  own.survives.store(settings_.peer_death == PeerDeath::survive ? 1 : 0, std::memory_order_relaxed);
  copy_text(own.program, sizeof own.program, this_program());
  copy_text(own.host, sizeof own.host, this_host());
  host::publish_cpus(own);
}

void Engine::join() {
  fill_in_card();
  const bool first_here = relay_.hosts().here().front() == job_.id;
  if (!job_.memory->commit_node(job_.id, table_.size()) ||
      (first_here && !job_.memory->commit_handler_names(table_.size()))) {
    throw Error("join the job",
                "no memory for what node " + std::to_string(job_.id) + " counts in the job's shared memory",
                host::SharedFile::more_room);
  }
  if (first_here) {  // released to the others by `joined`, as the cards are
    publish_handler_names(table_, board());
    board().job().cpu_quota =
        static_cast<std::uint32_t>(std::ceil(host::read_control_group().processors.value_or(0)));
  }
  if (Watchdog::is_wanted(settings_)) watchdog_.emplace(onlooker_, job_.id, settings_);
  const Hosts& hosts = relay_.hosts();
  // Release: whoever counts us in (wait_for) sees the card.
  card().standing.store(static_cast<std::uint32_t>(host::Standing::joined), std::memory_order_release);
  const std::size_t joined = board().job().joined.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (joined == hosts.here().size()) nudge_all_here();
  if (hosts.count() > 1) wait_for(static_cast<NodeId>(hosts.here().size()), true);
  if (hosts.count() > 1 && first_here) meet_other_hosts();
  wait_for(job_.size, false);
  compare_programs();
  compare_pid_namespaces();
  if (board().job().launcher != 0 && !job_.child_of_launcher) watch_launcher();
  oversubscribed_ = host::is_oversubscribed(board(), job_.id);
}

void Engine::nudge_all_here() const noexcept {
  for (const NodeId node : relay_.hosts().here()) host::nudge(board(), node);
}

/// By the first node of the host.
void Engine::meet_other_hosts() {
  try {
    if (!job_.exchange_cards)
      throw Error("join the job", "it has several hosts, and no way between them", "start it on one host");
    job_.exchange_cards();
  } catch (const Error& error) {
    cannot_join(error, "the hosts of the job do not meet");
  }
  board().job().joined.store(job_.size, std::memory_order_release);
  nudge_all_here();
}

/// Until so many nodes have joined, of this host (`here`) or of the job.
void Engine::wait_for(NodeId nodes, bool here) {
  const std::atomic<std::uint32_t>& joined = board().job().joined;
  std::uint64_t looked = now();
  std::uint64_t waited = 0;
  bool reported = false;
  publish_wait(card(), "am::start", now());
  while (joined.load(std::memory_order_acquire) < nodes) {
    constexpr std::uint64_t nap_ns = 250'000'000;  // whoever joins last ends it
    const std::uint64_t nap = now() - looked;
    waited += std::min(nap, 2 * nap_ns);  // a longer one: the process was stopped
    looked += nap;
    const std::string seconds = std::to_string(waited / 1'000'000'000) + " s";
    if (settings_.timeout_ns != 0 && waited > settings_.timeout_ns) {
      cannot_join({"join the job", "no sign of node " + missing_nodes(board(), here) + " after " + seconds,
                   "does every node call am::start? AM_TIMEOUT sets how long that may take, 0 for ever"},
                  "nodes are missing");
    }
    if (settings_.report_after_ns != 0 && waited > settings_.report_after_ns &&
        !std::exchange(reported, true) &&
        first_to_say(board(), "nodes have not called am::start", settings_.report_after_ns)) {
      TextOut(&write_to_stderr) << "am: node " << job_.id << " has waited " << seconds << " for node "
                                << missing_nodes(board(), here) << " to call am::start\n";
    }
    if (board().launcher_has_ended())
      throw Error("join the job", "amrun ended while this node was starting", "start the job again");
    sleep(now() + nap_ns, {.high = false, .low = false});
  }
  publish_wait(card(), {}, 0);
}

void Engine::cannot_join(const Error& error, const char* same_on_all) const {
  let_one_end_the_job(board(), job_.id, same_on_all);
  throw error;
}

void Engine::compare_programs() const {
  const host::NodeCard& first = board().card(0);
  const host::NodeCard& own = board().card(job_.id);
  if (own.fingerprint == first.fingerprint && own.handlers == first.handlers) return;
  const std::string difference = difference_of_handlers(table_, job_.id, board());
  cannot_join(
      {"join the job",
       "node " + std::to_string(job_.id) + " runs " + own.program + " (" + std::to_string(own.handlers) +
           " handlers), node 0 runs " + first.program + " (" + std::to_string(first.handlers) + "); " +
           (difference.empty() ? "" : difference + ": ") + "their handlers differ",
       "start the same build of one program on every node"},
      "their handlers differ");
}

/// Who interrupts a node sends a signal to its process by number.
void Engine::compare_pid_namespaces() const {
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
  for (const NodeId peer : relay_.hosts().here()) {
    const host::NodeCard& other = board().card(peer);
    if (own.signal != 0) check(job_.id, "node " + std::to_string(peer), other.pid_namespace);
    if (other.signal != 0) check(peer, "node " + std::to_string(job_.id), own.pid_namespace);
  }
  if (own.signal != 0 && job.launcher != 0) check(job_.id, "amrun", job.launcher_pid_namespace);
}

/// Without the thread a node sees amrun's end in its waits and in one of 1024 polls (look_after_peers): better than not to start.
void Engine::watch_launcher() {
  try {
    launcher_watch_.emplace(board(), job_.id);
  } catch (const Error&) {
  }
}

}  // namespace am::core
