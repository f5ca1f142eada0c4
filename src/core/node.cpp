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
#include "core/own_pid.hpp"
#include "transports/faults/faults.hpp"
#include "transports/shm/clock.hpp"

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
      recorder_(Watchdog::is_wanted(settings) ? &job_.segment->card(job_.id) : nullptr),
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
}

void Engine::join() {
  shm::NodeCard& own = card();
  own.pid = own_pid();
  own.tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  own.has_handler_thread = settings_.dispatch == Dispatch::thread ? 1 : 0;
  own.signal = settings_.dispatch == Dispatch::interrupt ? settings_.signal : 0;
  own.wait_status.store(shm::unknown_end, std::memory_order_relaxed);  // with standing
  own.fingerprint = table_.fingerprint();
  own.handlers = static_cast<std::uint32_t>(table_.size());
  own.segment_bytes = settings_.segment_bytes;
  own.survives.store(settings_.peer_death == PeerDeath::survive ? 1 : 0, std::memory_order_relaxed);
  copy_text(own.program, sizeof own.program, this_program());
  copy_text(own.host, sizeof own.host, this_host());
  publish_cpus(own);
  if (job_.id == 0) {  // released to the others by `joined`, as the cards are
    publish_handler_names(table_, *job_.segment);
    job_.segment->job().cpu_quota =
        static_cast<std::uint32_t>(std::ceil(read_control_group().processors.value_or(0)));
  }
  if (Watchdog::is_wanted(settings_)) watchdog_.emplace(*job_.segment, job_.id, settings_);
  if (job_.processes) job_.segment->hold_life_lock(job_.id);
  // Release: whoever counts us in (wait_for_all_to_join) sees the card.
  own.standing.store(static_cast<std::uint32_t>(shm::Standing::joined), std::memory_order_release);
  if (job_.segment->job().joined.fetch_add(1, std::memory_order_acq_rel) + 1 == job_.size) {
    for (NodeId node = 0; node < job_.size; ++node) job_.segment->nudge(node);
  }
  wait_for_all_to_join();
  compare_programs();
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
      throw Error("join the job", "no sign of node " + missing_nodes(*job_.segment) + " after " + seconds,
                  "does every node call am::start? AM_TIMEOUT sets how long that may take, 0 for ever");
    }
    if (settings_.report_after_ns != 0 && waited > settings_.report_after_ns &&
        !std::exchange(reported, true)) {
      std::fprintf(stderr, "am: node %u has waited %s for node %s to call am::start\n", job_.id,
                   seconds.c_str(), missing_nodes(*job_.segment).c_str());
    }
    if (job_.segment->launcher_has_ended())
      throw Error("join the job", "amrun ended while this node was starting", "start the job again");
    shm_.park(shm::monotonic_ns() + nap_ns, {.high = false, .low = false});
  }
  publish_wait(card(), {}, 0);
}

void Engine::compare_programs() const {
  const shm::NodeCard& first = job_.segment->card(0);
  const shm::NodeCard& own = job_.segment->card(job_.id);
  if (own.fingerprint == first.fingerprint && own.handlers == first.handlers) return;
  throw Error("join the job",
              "node " + std::to_string(job_.id) + " runs " + own.program + " (" +
                  std::to_string(own.handlers) + " handlers), node 0 runs " + first.program + " (" +
                  std::to_string(first.handlers) + "): their handlers differ",
              "start the same build of one program on every node");
}

// -- leaving ----------------------------------------------------------------------------------------------------------

void Engine::leave() noexcept {
  if (left_ || (job_.processes && card().pid != getpid())) return;  // a forked child is not the node
  end_events();
  left_ = true;
  run_no_more_handlers();
  // What is in the rings now: multicasts that others wait for are passed on from there. A bound, because peers that do
  // not know yet go on sending: the rings are served in turn, and once this was taken each has been emptied.
  const auto passed_on = [this] { return !outgoing_.has_rows() && forwarded_.empty(); };
  std::size_t most = std::size_t{job_.size} * (shm::low_lines + shm::high_lines);
  while (most != 0) {
    network_->park(0, {});  // does not sleep, but looks everywhere
    const std::size_t taken = poll();
    most -= std::min(taken, most);
    if (!passed_on()) {
      wait(passed_on, "leaving: passing on what was accepted");
    } else if (taken == 0 && !network_->holds_back()) {
      break;
    }
  }
  if (settings_.stats) print_counters(*job_.segment, job_.id);
  job_.segment->mark(job_.id, shm::Standing::left, 0);
  watchdog_.reset();
  if (job_.leave) job_.leave();
}

/// The program's object, and what its handlers need, may be gone by now. From here on messages to this node are taken
/// out of the network and dropped, so that two nodes that leave do not wait for each other; multicasts are passed on.
///
/// Also within a handler, which called std::exit: its message, and the one that it interrupted, are still in the network,
/// but have been passed on.
void Engine::run_no_more_handlers() noexcept {
  const impl::Level level = node_->events_.level;
  if (level != impl::Level::high) handled_[1] = nullptr;
  if (level == impl::Level::computation) handled_[0] = nullptr;
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

#ifdef AM_CHECKED
void Node::check_use_(Priority priority, bool wait) {
  engine_->must_be_owner();
  const impl::Hold hold(*this);
  if (wait) engine_->must_not_wait(priority);
}
#endif

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
