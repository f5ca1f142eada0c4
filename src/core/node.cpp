// The life of a node: joining and leaving, and the public face of the engine behind it.
#include <sys/syscall.h>
#include <unistd.h>
#include <am/draft.hpp>
#include <am/error.hpp>
#include <am/impl/waiter.hpp>
#include <am/node.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/card_words.hpp"
#include "core/collectives.hpp"
#include "core/control_group.hpp"
#include "core/counters.hpp"
#include "core/cpus.hpp"
#include "core/engine.hpp"
#include "core/fatal.hpp"
#include "core/handler_names.hpp"
#include "core/once.hpp"
#include "transports/faults/faults.hpp"
#include "transports/shm/clock.hpp"
#include "transports/shm/pid_namespace.hpp"

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
std::string missing_nodes(const shm::Segment& segment) {
  std::string missing;
  for (NodeId node = 0; node < segment.nodes(); ++node) {
    if (segment.card(node).standing.load(std::memory_order_acquire) == 0)
      missing += (missing.empty() ? "" : ", ") + std::to_string(node);
  }
  return missing;
}

}  // namespace

// -- joining ----------------------------------------------------------------------------------------------------------

Engine::Engine(Job job, const Settings& settings)
    : job_(std::move(job)),
      settings_(settings),
      memory_for_events_(settings.dispatch == Dispatch::interrupt),
      table_(HandlerTable::of_this_program()),
      handlers_(table_.rows()),
      epoch_ns_(job_.segment->job().epoch_ns),
      handler_counts_(job_.segment->handler_counts(job_.id)),
      recorder_(job_.segment->card(job_.id), Watchdog::is_wanted(settings)),
      shm_(job_.segment, job_.id,
           settings.dispatch == Dispatch::poll ? impl::watch::on : impl::watch::briefly,
           Watchdog::is_wanted(settings)),
      decorator_(make_faults(shm_, settings_, job_.id, job_.size)),
      network_(decorator_ ? decorator_.get() : &shm_),
      direct_(decorator_ == nullptr),
      plain_(direct_ && settings.dispatch == Dispatch::poll),
      never_connected_(plain_ ? nullptr : new impl::Producer[2 * std::size_t{job_.size}]),
      outgoing_(memory_for_events()),
      assembler_(memory_for_events()),
      timelets_(memory_for_events()),
      posts_(memory_for_events()),
      untold_deaths_(memory_for_events()),
      memory_(*this),
      collectives_(std::make_unique<CollectiveState>(memory_for_events())),
      forwarded_(memory_for_events()),
      multicast_buffer_(memory_for_events()),
      handled_(job_.segment->card(job_.id)),
      spent_(memory_for_events()),
      gone_(job_.size),
      suspects_(job_.size) {
  if (settings_.dispatch == Dispatch::interrupt) interrupt_.emplace(settings_.signal);
  join();
}

Engine::~Engine() = default;

void Engine::attach(Node& node) {
  node_ = &node;
  node.id_ = job_.id;
  node.size_ = job_.size;
  node.dispatch_ = settings_.dispatch;
  node.shared_ = settings_.dispatch != Dispatch::poll;
  node.rings_ = plain_ ? shm_.producers() : never_connected_.get();
  node.traffic_ = job_.segment->traffic(job_.id);
  node.segments_ = memory_.peers();
  kept_from_children_.emplace(*this);
}

/// First of all: one that comes second, by mistake, must not touch the card.
void Engine::take_place() {
  const std::string node = "node " + std::to_string(job_.id);
  shm::LifeLock& life = job_.segment->life(job_.id);
  if (!life.take())
    throw Error("join the job", node + " is already taken by another process", "start one process per node");
  life_.emplace(life);
  if (standing_of(card()) != shm::Standing::absent)
    throw Error("join the job", node + " has run already, and cannot begin anew",
                "start one process per node");
}

void Engine::join() {
  take_place();
  shm::NodeCard& own = card();
  own.pid = getpid();
  own.tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  own.pid_namespace = shm::own_pid_namespace();
  own.child_of_launcher = job_.child_of_launcher ? 1 : 0;
  own.has_handler_thread = settings_.dispatch == Dispatch::thread ? 1 : 0;
  own.signal = settings_.dispatch == Dispatch::interrupt ? settings_.signal : 0;
  own.wait_status.store(shm::unknown_end, std::memory_order_relaxed);  // with standing
  own.fingerprint = table_.fingerprint();
  own.handlers = static_cast<std::uint32_t>(table_.size());
  own.segment_bytes = settings_.segment_bytes;
  own.mapped_at = reinterpret_cast<std::uintptr_t>(&job_.segment->job());
  own.survives.store(settings_.peer_death == PeerDeath::survive ? 1 : 0, std::memory_order_relaxed);
  copy_text(own.program, sizeof own.program, this_program());
  copy_text(own.host, sizeof own.host, this_host());
  publish_cpus(own);
  if (!job_.segment->commit_node(job_.id, table_.size())) {
    throw Error("join the job",
                "no memory for what node " + std::to_string(job_.id) + " counts in the job's shared memory",
                shm::SharedFile::more_room);
  }
  if (job_.id == 0) {  // released to the others by `joined`, as the cards are
    publish_handler_names(table_, *job_.segment);
    job_.segment->job().cpu_quota =
        static_cast<std::uint32_t>(std::ceil(read_control_group().processors.value_or(0)));
  }
  if (Watchdog::is_wanted(settings_)) watchdog_.emplace(*job_.segment, job_.id, settings_);
  // Release: whoever counts us in (wait_for_all_to_join) sees the card.
  own.standing.store(static_cast<std::uint32_t>(shm::Standing::joined), std::memory_order_release);
  if (job_.segment->job().joined.fetch_add(1, std::memory_order_acq_rel) + 1 == job_.size) {
    for (NodeId node = 0; node < job_.size; ++node) job_.segment->nudge(node);
  }
  wait_for_all_to_join();
  compare_programs();
  compare_pid_namespaces();
  if (job_.segment->job().launcher != 0 && !job_.child_of_launcher) watch_launcher();
  oversubscribed_ = is_oversubscribed(*job_.segment, job_.id);
}

void Engine::wait_for_all_to_join() {
  const std::atomic<std::uint32_t>& joined = job_.segment->job().joined;
  std::uint64_t looked = now();
  std::uint64_t waited = 0;
  bool reported = false;
  publish_wait(card(), "am::start", now());
  while (joined.load(std::memory_order_acquire) < job_.size) {
    constexpr std::uint64_t nap_ns = 250'000'000;  // whoever joins last ends it
    const std::uint64_t nap = now() - looked;
    waited += std::min(nap, 2 * nap_ns);  // a longer one: the process was stopped
    looked += nap;
    const std::string seconds = std::to_string(waited / 1'000'000'000) + " s";
    if (settings_.timeout_ns != 0 && waited > settings_.timeout_ns) {
      cannot_join({"join the job", "no sign of node " + missing_nodes(*job_.segment) + " after " + seconds,
                   "does every node call am::start? AM_TIMEOUT sets how long that may take, 0 for ever"},
                  "nodes are missing");
    }
    if (settings_.report_after_ns != 0 && waited > settings_.report_after_ns &&
        !std::exchange(reported, true) &&
        first_to_say(*job_.segment, "nodes have not called am::start", settings_.report_after_ns)) {
      TextOut(&write_to_stderr) << "am: node " << job_.id << " has waited " << seconds << " for node "
                                << missing_nodes(*job_.segment) << " to call am::start\n";
    }
    if (job_.segment->launcher_has_ended())
      throw Error("join the job", "amrun ended while this node was starting", "start the job again");
    shm_.park(shm::monotonic_ns() + nap_ns, {.high = false, .low = false});
  }
  publish_wait(card(), {}, 0);
}

void Engine::cannot_join(const Error& error, const char* same_on_all) const {
  let_one_end_the_job(*job_.segment, job_.id, same_on_all);
  throw error;
}

void Engine::compare_programs() const {
  const shm::NodeCard& first = job_.segment->card(0);
  const shm::NodeCard& own = job_.segment->card(job_.id);
  if (own.fingerprint == first.fingerprint && own.handlers == first.handlers) return;
  const std::string difference = difference_of_handlers(table_, job_.id, *job_.segment);
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
    if (shm::same_pid_namespace(job_.segment->card(interrupted).pid_namespace, pid_namespace)) return;
    throw Error("join the job",
                "node " + std::to_string(interrupted) +
                    " is interrupted by signals (AM_DISPATCH=interrupt), and " + who +
                    " is in another PID namespace, where its process number means another process",
                "run the job in one container, or with AM_DISPATCH=thread or poll");
  };
  const shm::NodeCard& own = job_.segment->card(job_.id);
  const shm::JobHeader& job = job_.segment->job();
  for (NodeId peer = 0; peer < job_.size; ++peer) {
    const shm::NodeCard& other = job_.segment->card(peer);
    if (own.signal != 0) check(job_.id, "node " + std::to_string(peer), other.pid_namespace);
    if (other.signal != 0) check(peer, "node " + std::to_string(job_.id), own.pid_namespace);
  }
  if (own.signal != 0 && job.launcher != 0) check(job_.id, "amrun", job.launcher_pid_namespace);
}

/// Without the thread a node sees amrun's end in its waits and in one of 1024 polls (look_after_peers): better than not to start.
void Engine::watch_launcher() {
  try {
    launcher_watch_.emplace(*job_.segment, job_.id);
  } catch (const Error&) {
  }
}

// -- leaving ----------------------------------------------------------------------------------------------------------

void Engine::leave() noexcept {
  if (left_ || disowned_ || card().pid != getpid()) return;  // a forked child is not the node
  end_events();
  left_ = true;
  run_no_more_handlers();
  // What is in the rings now: multicasts that others wait for are passed on from there. A bound, because peers that do
  // not know yet go on sending: the rings are served in turn, and once this was taken each has been emptied.
  const auto passed_on = [this] { return !outgoing_.has_rows() && forwarded_.empty(); };
  std::size_t most = std::size_t{job_.size} * (shm::low_lines + shm::high_lines);
  bool all_taken = false;
  while (most != 0 && !all_taken) {
    network_->park(0, {});  // does not sleep, but looks everywhere
    const std::size_t taken = poll();
    most -= std::min(taken, most);
    if (!passed_on()) {
      wait(passed_on, "leaving: passing on what was accepted");
    } else {
      all_taken = taken == 0 && !network_->holds_back();
    }
  }
  tell_of_undelivered(all_taken);
  if (settings_.stats) print_counters(*job_.segment, job_.id);
  job_.segment->mark(job_.id, shm::Standing::left, 0);
  watchdog_.reset();
  launcher_watch_.reset();
  if (job_.leave) job_.leave();
}

/// One that is dropped, if it is the program's own, and whole.
void Engine::count_undelivered(const Transport::View& view) noexcept {
  const impl::HandlerId id = view.packet->head().handler();
  if (table_.is_internal(id)) return;
  ++undelivered_.messages[static_cast<std::size_t>(view.priority)];
  if (undelivered_.first.kind == RecordedEvent::Kind::none)
    undelivered_.first = RecordedEvent::of_message(view.priority, id, *view.packet, 0);
}

/// Accepted is delivered, unless the receiver leaves: a program that did not mean that shall hear of it. Not where it ends
/// by an error anyway, or a node has died.
void Engine::tell_of_undelivered(bool all_taken) const noexcept {
  const auto& [low, high] = undelivered_.messages;
  if (low + high == 0 || ends_badly_ || std::uncaught_exceptions() != 0) return;
  for (NodeId peer = 0; peer < job_.size; ++peer) {
    if (standing_of(job_.segment->card(peer)) == shm::Standing::dead) return;
  }
  TextOut out(&write_to_stderr);
  out << "am: node " << job_.id << " left with " << (all_taken ? "" : "at least ") << low + high
      << (low + high == 1 ? " message" : " messages") << " undelivered (" << low << " low, " << high
      << " high; the first for handler " << table_.name(undelivered_.first.handler) << " from node "
      << undelivered_.first.from
      << "): a node that ends waits until all that it is sent has come, which a barrier alone does not "
         "tell\n";
}

/// The program's object, and what its handlers need, may be gone by now. From here on messages to this node are taken
/// out of the network and dropped, so that two nodes that leave do not wait for each other; multicasts are passed on.
///
/// Also within a handler, which called std::exit: its message, and the one that it interrupted, are still in the network,
/// but have been passed on.
void Engine::run_no_more_handlers() noexcept {
  const impl::Level level = node_->events_.level;
  if (level != impl::Level::high) handled_.clear(Priority::high);
  if (level == impl::Level::computation) handled_.clear(Priority::low);
  node_->events_ = {};
  node_->events_.ame = false;  // so that every message goes by handle_unusual
  untold_deaths_.clear();
  timelets_.clear();
  outlet_ = {};
  posts_.clear();
  on_peer_death_ = {};
  something_else_ = true;
}

}  // namespace am::core

// -- the public face --------------------------------------------------------------------------------------------------

namespace am {

#ifdef AM_CHECKED
const char program_with_AM_CHECKED_needs_libam_with_AM_CHECKED = 0;
#else
const char program_without_AM_CHECKED_needs_libam_without_AM_CHECKED = 0;
#endif

namespace {
[[gnu::tls_model("initial-exec")]] thread_local constinit Node* node_of_this_thread = nullptr;
}

namespace impl {
thread_local constinit Node* events_of_this_thread = nullptr;
Node* current_node() noexcept { return node_of_this_thread; }
}  // namespace impl

Node::Node(std::unique_ptr<core::Engine> engine) : engine_(std::move(engine)) {
  engine_->attach(*this);
  node_of_this_thread = this;
}

Node::~Node() {
  engine_->leave();
  node_of_this_thread = nullptr;
}

std::size_t Node::poll() { return engine_->poll(); }

void Node::check_use_(Priority priority, bool wait) {
  engine_->must_be_owner();
  const impl::Hold hold(*this);
  if (wait) engine_->must_not_wait(priority);
}

Status Node::send_slowly_(const impl::OutMessage& message, bool wait) {
  const impl::Hold hold(*this);
  return engine_->send(message, wait);
}

void Node::attend_() noexcept { engine_->attend(); }

void Node::ring_doorbell_(NodeId to, Priority priority) noexcept { engine_->ring_doorbell(to, priority); }

impl::Waiter Node::begin_wait_(const char* what) {
  engine_->must_compute(what);
  return impl::Waiter(*engine_, what);
}

void Node::wrong_state_() const noexcept {
  core::broken(id_, state_ == nullptr
                        ? "a handler asks for the node's state, but nothing was attached (Node::attach)"
                        : "a handler asks for the node's state as another type than was attached");
}

void Node::post(std::function<void(Node&)> f) {
  const impl::Hold hold(*this);
  engine_->post(std::move(f));
}

Count Node::count() const noexcept { return engine_->now(); }

TimeletId Node::on_timelet(Count when, std::function<void(LowEvent&)> f) {
  const impl::Hold hold(*this);
  return engine_->add_timelet(when, std::move(f));
}

bool Node::cancel_timelet(TimeletId id) noexcept {
  const impl::Hold hold(*this);
  return engine_->cancel_timelet(id);
}

void Node::on_outlet(std::function<void(LowEvent&)> f) {
  const impl::Hold hold(*this);
  engine_->set_outlet(std::move(f));
}

void Node::on_default(std::function<void(Incoming&)> f) {
  const impl::Hold hold(*this);
  engine_->set_default_handler(std::move(f));
}

void Node::on_peer_death(std::function<void(Node&, NodeId)> f) {
  const impl::Hold hold(*this);
  engine_->set_on_peer_death(std::move(f));
}

std::string_view Incoming::handler_name() const noexcept {
  return node_->engine().table().name(packet_->head().handler());
}

void Incoming::run() const {
  const impl::Hold hold(*node_);  // the default handler is out of the node, in the interrupt mode
  struct Again {                  // and goes on there, to be interrupted
    core::Engine& engine;
    ~Again() { engine.look_again(); }
  } const again{node_->engine()};
  node_->engine().run_handler(packet_->head().handler(), *packet_, payload_, priority_);
}

}  // namespace am
