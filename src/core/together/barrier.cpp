// The barrier of all nodes of a job, where no network has one (by_network.hpp): one counter of arrivals on the board of each host.
//
// The counter never goes back. Each node knows what it must reach for the barrier that it is in: the nodes of the host times
// the number of barriers so far, modulo 2^32. Nobody arrives for the next barrier before this one is open, so the counter is
// never further than one barrier's arrivals from the target and the sign of the difference tells. No generation has to be opened by the last
// one: the line that takes the last arrival is the line that the others look at. With two nodes a barrier costs two
// transfers of it.
//
// Visibility. Every arrival is a read-modify-write with release, so all of them are one release sequence; whoever reads
// the counter at its target with acquire sees what each node did before it arrived.
//
// Between hosts. The first node of each host, once its own host's counter is at the target, goes through rounds of words on the
// control lane (membership/relay.hpp): in round k it tells the host 2^k further on, and waits for the one 2^k before; so after
// the last round it has heard, by somebody, of all. Then it writes the target to the board (barrier_opened), which is what the
// nodes of its host look at. All hosts count barriers alike, and a host that is told early keeps the number. The first node
// stays in the barrier, and makes progress, until what it has said has left it.
//
// Sleeping without losing the wake-up. A node that may sleep next says so (barrier_sleepers), and then looks at the
// counter, or at barrier_opened, once more. The last one to arrive, and the one that opens, looks at barrier_sleepers after
// that. All four accesses are sequentially consistent: either the sleeper sees the arrival, or the arrival's node sees the
// sleeper and nudges it. (The first node of a host, which waits for the arrivals, looks at these, too.)
//   A nudge (host/bell.hpp) counts, and then rings. The sleeper sets its alarm, passes a fence, and looks at the count of its
// nudges: it finds this one, or the nudge comes later and finds the alarm.
//
// A node that dies or leaves before it arrives. Every node looks at the board's count of departures before it arrives, and
// while it waits. Once the count has changed nobody arrives any more, so a barrier that lacks a node stays shut. Whoever
// notices looks at the counter again before it gives up: a node that left after the barrier opened is no fault. Between hosts
// the news of a departure may come before that of the last arrival: it says how many barriers the node had arrived at, and
// who has arrived at this one is not missing. (A first node that died is: it may not have told the others.)
//
// Exceptions out of handlers and posts wait until the barrier is open (Operation): a node that has arrived stays until
// then, so nobody arrives twice for one barrier, and none is left out.
#include <string>

#include "core/membership/peers_gone.hpp"
#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
#include "core/together/by_network.hpp"
#include "core/together/collectives.hpp"
#include "core/together/operation.hpp"

namespace am {

namespace core {

namespace {

/// This node among those that may be asleep in the barrier.
class Sleeper {
 public:
  explicit Sleeper(host::JobHeader& job) noexcept : job_(job) {}
  ~Sleeper() {
    if (announced_)
      job_.barrier_sleepers.fetch_sub(1, std::memory_order_relaxed);  // too many cost a nudge only
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  void announce() noexcept {
    if (!announced_) job_.barrier_sleepers.fetch_add(1, std::memory_order_seq_cst);
    announced_ = true;
  }

 private:
  host::JobHeader& job_;
  bool announced_ = false;
};

/// The barrier as this node goes through it.
class Barrier {
 public:
  explicit Barrier(Operation& operation) noexcept
      : operation_(operation),
        engine_(operation.engine()),
        state_(engine_.collectives()),
        job_(engine_.board().job()),
        hosts_(engine_.relay().hosts()),
        opens_(hosts_.count() == 1 ? job_.barrier_arrived : job_.barrier_opened) {}

  void pass() {
    give_up_on_the_gone();
    arrive();
    go_on_with_hosts();
    operation_.poll();  // also for the last one to arrive: a barrier makes progress
    if (!may_go_on()) wait();
  }

 private:
  [[nodiscard]] bool is_open() const noexcept {
    return reached(opens_.load(std::memory_order_seq_cst), state_.barrier_target);
  }
  [[nodiscard]] bool may_go_on() const noexcept {
    return is_open() && (!acts_for_host() || engine_.network().published());
  }
  [[nodiscard]] bool acts_for_host() const noexcept {
    return hosts_.count() > 1 && engine_.job().id == hosts_.here().front();
  }
  static bool reached(std::uint32_t count, std::uint32_t target) noexcept {
    return static_cast<std::int32_t>(count - target) >= 0;
  }

  void arrive() noexcept {
    arrived_ = true;
    state_.barrier_target += static_cast<std::uint32_t>(hosts_.here().size());
    ++state_.barriers;
    const std::uint32_t before = job_.barrier_arrived.fetch_add(1, std::memory_order_seq_cst);
    // After the arrival itself: who is said to have arrived has. Released by its standing.
    engine_.card().barriers.store(state_.barriers, std::memory_order_relaxed);
    if (before + 1 == state_.barrier_target) nudge_sleepers();
  }

  void nudge_sleepers() const noexcept {
    if (job_.barrier_sleepers.load(std::memory_order_seq_cst) == 0) return;
    for (const NodeId node : hosts_.here()) {
      if (node != engine_.job().id) host::nudge(engine_.board(), node);
    }
  }

  /// The first node of a host goes through the rounds with the other hosts, as far as it gets now.
  void go_on_with_hosts() noexcept {
    if (!acts_for_host() || is_open()) return;
    const std::uint32_t count = hosts_.count();
    if (!reached(job_.barrier_arrived.load(std::memory_order_seq_cst), state_.barrier_target)) return;
    for (std::uint32_t ahead = 1u << round_; ahead < count; ahead = 1u << ++round_) {
      if (round_ == told_) {
        const std::uint32_t partner = (hosts_.own() + ahead) % count;
        engine_.relay().tell_barrier(engine_.network(), hosts_.first_of(partner), told_++, state_.barriers);
      }
      if (!reached(engine_.relay().heard_barrier(round_), state_.barriers)) return;
    }
    job_.barrier_opened.store(state_.barrier_target, std::memory_order_seq_cst);
    nudge_sleepers();
  }

  void wait() {
    Sleeper sleeper(job_);
    operation_.wait([&](bool sleeps_next) {
      go_on_with_hosts();
      if (may_go_on()) return true;
      if (engine_.membership().any_gone()) give_up_on_the_gone();
      if (!sleeps_next) return false;
      sleeper.announce();
      go_on_with_hosts();
      return may_go_on();
    });
  }

  void give_up_on_the_gone() {
    engine_.look_after_peers(false);
    const auto missing = hosts_.count() == 1 ? any_gone(engine_) : gone_without_arriving();
    if (missing && !(arrived_ && is_open()))
      operation_.fail(peer_gone_error(engine_, operation_.what(), *missing));
  }

  [[nodiscard]] std::optional<NodeId> gone_without_arriving() const noexcept {
    if (!engine_.membership().any_gone()) return std::nullopt;
    const std::uint32_t number = arrived_ ? state_.barriers : state_.barriers + 1;
    const auto is_missing = [&](NodeId node) {
      if (!engine_.membership().is_gone(node)) return false;
      const host::NodeCard& card = engine_.board().card(node);
      return !reached(card.barriers.load(std::memory_order_relaxed), number) ||
             (engine_.board().standing(node) == host::Standing::dead &&
              node == hosts_.first_of(card.on_host));
    };
    for (NodeId node = 0; node < engine_.job().size; ++node) {
      if (is_missing(node)) return node;
    }
    return std::nullopt;
  }

  Operation& operation_;
  Engine& engine_;
  CollectiveState& state_;
  host::JobHeader& job_;
  const Hosts& hosts_;
  const std::atomic<std::uint32_t>& opens_;
  bool arrived_ = false;
  std::uint32_t round_ = 0;  // between hosts: the one that this host is in
  std::uint32_t told_ = 0;   // rounds whose partner was told
};

}  // namespace

void pass_barrier(Operation& operation) {
  CollectiveState& state = operation.engine().collectives();
  ++state.operations;
  if (!pass_barrier_by_network(operation)) Barrier(operation).pass();
  state.by_messages.clear();
}

void Engine::must_compute(const char* operation) const {
  must_not_be_a_child();
  if (node_->events_.level != impl::Level::computation) {
    must_be_owner();
    broken(job_.id, operation, " inside handler ", running_handler(),
           ": a handler runs to its end, it does not wait (post the work instead)");
  }
}

}  // namespace core

void Node::barrier() {
  core::Operation operation(*this, "barrier");
  core::pass_barrier(operation);
  operation.complete();
}

}  // namespace am
