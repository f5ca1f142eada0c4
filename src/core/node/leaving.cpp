// How a node leaves its job: it takes what has come, and passes on what others wait for.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "core/membership/standing.hpp"
#include "core/node/engine.hpp"
#include "core/node/last_thread.hpp"
#include "core/reports/counters.hpp"
#include "core/reports/fatal.hpp"
#include "core/streams/streams.hpp"

namespace am::core {

void Engine::leave() noexcept {
  if (left_ || disowned_ || card().pid != getpid()) return;  // a forked child is not the node
  attendant_.end();
  taken_in_leaving_.resize(job_.size);
  left_ = true;
  run_no_more_handlers();
  // What is in the rings now: multicasts that others wait for are passed on from there. Peers that do not know yet go on sending.
  const auto passed_on = [this] {
    return !sender_.has_rows() && forwarding_.idle() && !memory_.remote().puts().any() && network().drained();
  };
  bool all_taken = false;
  while (!all_taken) {
    if (arm(host::Alarm::sleeper, {})) disarm();  // looks everywhere
    const std::size_t taken = poll();
    if (!passed_on()) {
      wait(passed_on, "its end, passing on what was accepted");
    } else {
      all_taken = taken == 0 && !network().holds_back();
    }
  }
  const bool all_came = std::ranges::none_of(taken_in_leaving_, is_all_that_was_there);
  if (leaves_in_order()) undelivered_.tell(job_.id, table_, all_came);
  if (settings_.stats) {
    const std::string text = counts_of(job_.memory, job_.id);
    std::fwrite(text.data(), 1, text.size(), stderr);  // in one piece
  }
  mark_left(board(), job_.id);
  relay_.tell(network());
  if (!network().drained()) wait([this] { return network().drained(); }, "its end, telling other hosts");
  watchdog_.reset();
  launcher_watch_.reset();
  if (job_.leave) job_.leave();
}

/// A thread that is neither the node's nor its events' cannot leave for it: the node's own may be in the middle of a call.
bool Engine::is_ended_by_a_stranger() const noexcept {
  return !disowned_ && card().pid == getpid() && this_node() != node_ && !node_thread_has_ended();
}

void Engine::retire() noexcept {
  if (is_ended_by_a_stranger()) {
    if (!ends_badly_)
      say_last(job_.id,
               "another thread than the node's ends the program, so the node does not leave its job (let the "
               "thread that called am::start end it, or a handler)");
    return;
  }
  retired_by_ = std::this_thread::get_id();
  leave();
  if (!disowned_ && card().pid == getpid()) {
    withdraw();
    networks_.close();
  }
  node_->owned_.clear();
}

/// Whether what it leaves undone is news. Not where the program ends by an error anyway, or a node has died.
bool Engine::leaves_in_order() const noexcept {
  if (ends_badly_ || std::uncaught_exceptions() != 0) return false;
  for (NodeId peer = 0; peer < job_.size; ++peer) {
    if (board().standing(peer) == host::Standing::dead) return false;
  }
  return true;
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
  agenda_.clear();
  streams_->leave();
  drop_kept();
  memory_.remote().forget_accesses();
  something_else_ = true;
}

}  // namespace am::core
