// The barrier of all nodes of a job: one counter of arrivals on the board.
//
// The counter never goes back. Each node knows what it must reach for the barrier that it is in: size times the number
// of barriers so far, modulo 2^32. Nobody arrives for the next barrier before this one is open, so the counter is never
// further than `size` from the target and the sign of the difference tells. No generation has to be opened by the last
// one: the line that takes the last arrival is the line that the others look at. With two nodes a barrier costs two
// transfers of it.
//
// Visibility. Every arrival is a read-modify-write with release, so all of them are one release sequence; whoever reads
// the counter at its target with acquire sees what each node did before it arrived.
//
// Sleeping without losing the wake-up. A node that may sleep next says so (barrier_sleepers), and then looks at the
// counter once more. The last one to arrive looks at barrier_sleepers after its arrival. All four accesses are
// sequentially consistent: either the sleeper sees the arrival, or the arrival's node sees the sleeper and nudges it.
//   A nudge (host/bell.hpp) counts, and then rings. The sleeper sets its alarm, passes a fence, and looks at the count of its
// nudges: it finds this one, or the nudge comes later and finds the alarm.
//
// A node that dies or leaves before it arrives. Every node looks at the board's count of departures before it arrives, and
// while it waits. Once the count has changed nobody arrives any more, so a barrier that lacks a node stays shut. Whoever
// notices looks at the counter again before it gives up: a node that left after the barrier opened is no fault.
//
// Exceptions out of handlers and posts wait until the barrier is open (Operation): a node that has arrived stays until
// then, so nobody arrives twice for one barrier, and none is left out.
#include <string>

#include "core/membership/peers_gone.hpp"
#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
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
        job_(engine_.board().job()) {}

  void pass() {
    give_up_on_the_gone();
    arrive();
    operation_.poll();  // also for the last one to arrive: a barrier makes progress
    if (!is_open()) wait();
  }

 private:
  [[nodiscard]] bool is_open() const noexcept {
    const std::uint32_t arrived = job_.barrier_arrived.load(std::memory_order_seq_cst);
    return static_cast<std::int32_t>(arrived - state_.barrier_target) >= 0;
  }

  void arrive() noexcept {
    arrived_ = true;
    state_.barrier_target += engine_.job().size;
    const std::uint32_t before = job_.barrier_arrived.fetch_add(1, std::memory_order_seq_cst);
    if (before + 1 == state_.barrier_target && job_.barrier_sleepers.load(std::memory_order_seq_cst) != 0) {
      for (NodeId node = 0; node < engine_.job().size; ++node) {
        if (node != engine_.job().id) host::nudge(engine_.board(), node);
      }
    }
  }

  void wait() {
    Sleeper sleeper(job_);
    operation_.wait([&](bool sleeps_next) {
      if (is_open()) return true;
      if (engine_.membership().any_gone()) give_up_on_the_gone();
      if (!sleeps_next) return false;
      sleeper.announce();
      return is_open();
    });
  }

  void give_up_on_the_gone() {
    engine_.look_after_peers(false);
    const auto missing = any_gone(engine_);
    if (missing && !(arrived_ && is_open()))
      operation_.fail(peer_gone_error(engine_, operation_.what(), *missing));
  }

  Operation& operation_;
  Engine& engine_;
  CollectiveState& state_;
  host::JobHeader& job_;
  bool arrived_ = false;
};

}  // namespace

void pass_barrier(Operation& operation) { Barrier(operation).pass(); }

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
