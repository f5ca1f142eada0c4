// What runs of a node's agenda, and how: timelets and the outlet are low events; what was posted, and what is to be done about
// the death of a peer, is computation in a poll.
#include "core/events/agenda.hpp"

#include "core/events/levels.hpp"
#include "core/node/engine.hpp"

namespace am::core {

// -- asked for by the program -------------------------------------------------------------------------------------------

TimeletId Engine::add_timelet(Count when, Timelets::Function f) {
  must_not_be_a_child();
  something_else_ = true;
  attendant_.look_again();
  return agenda_.timelets.add(when, std::move(f));
}

bool Engine::cancel_timelet(TimeletId id) {
  Timelets::Function f = agenda_.timelets.cancel(id);
  const bool found = static_cast<bool>(f);
  if (found) attendant_.discard_function(std::move(f));
  return found;
}

void Engine::set_outlet(std::function<void(LowEvent&)> f) {
  something_else_ = true;
  attendant_.look_again();
  replace(agenda_.outlet, std::move(f));
}

void Engine::post(std::function<void(Node&)> f) {
  must_not_be_a_child();
  something_else_ = true;
  agenda_.posts.push_back(std::move(f));
}

// -- low events ---------------------------------------------------------------------------------------------------------

/// A timelet or the outlet, on the low level.
template <class F>
void Engine::run_rare_event(RecordedEvent which, const F& f) {
  const Recorder::Running running(recorder_, impl::Level::low, which);
  try {
    const Attendant::Interruptible interruptible(attendant_, true);
    LowEvent event(*node_);
    f(event);
  } catch (...) {
    event_threw();
    throw;
  }
}

bool Engine::run_timelet() {
  impl::EventState& events = node_->events_;
  if (!events.may_run(Event::timelet) || !timelet_due()) return false;
  struct Taken {
    Engine& engine;
    Timelets::Function f;
    ~Taken() { engine.attendant_.discard_function(std::move(f)); }
  } const taken{*this, agenda_.timelets.take()};
  const LowLevel level(*this);
  run_rare_event({.kind = RecordedEvent::Kind::timelet}, taken.f);
  return true;
}

bool Engine::run_outlet() {
  if (!outlet_may_run()) return false;
  const auto f = agenda_.outlet;  // it may replace itself
  const LowLevel level(*this);
  run_rare_event({.kind = RecordedEvent::Kind::outlet}, *f);
  return true;
}

// -- computation --------------------------------------------------------------------------------------------------------

void Engine::look_after_peers(bool thoroughly) {
  relay_.count().keep(network());
  relay_.give_up_the_lost();
  membership_.look(thoroughly, [this](NodeId peer, bool died) {
    network().close(peer);
    assembler_.lose(peer);
    relay_.tell(network());
    if (died && !membership_.survives()) relay_.tell_at_the_end(network());
    if (!died || !agenda_.on_peer_death) return;
    agenda_.untold_deaths.push_back(peer);
    something_else_ = true;
  });
}

void Engine::set_on_peer_death(std::function<void(Node&, NodeId)> f) {
  membership_.set_survives(f || settings_.peer_death == PeerDeath::survive);
  agenda_.on_peer_death = std::move(f);
}

/// Not held up by a post that waits: it may wait for this very news.
std::size_t Engine::tell_of_deaths() {
  std::size_t told = 0;
  for (; !agenda_.untold_deaths.empty(); ++told) {
    const NodeId dead = agenda_.untold_deaths.front();
    agenda_.untold_deaths.pop_front();
    const auto f = agenda_.on_peer_death;  // it may replace itself
    const Recorder::Running running(recorder_, impl::Level::computation,
                                    {.kind = RecordedEvent::Kind::peer_death, .from = dead});
    const Attendant::Computation computation(attendant_);
    if (f) f(*node_, dead);
    must_not_be_a_child();
  }
  return told;
}

/// Work posted before this poll; what it posts itself waits for the next one. While one waits and so polls, the others
/// wait, too: they run in order, one after another, and a thousand of them do not pile up on the stack.
std::size_t Engine::run_posts() {
  if (agenda_.posting) return 0;
  struct Posting {
    bool& flag;
    ~Posting() { flag = false; }
  } const posting{agenda_.posting = true};
  const std::size_t waiting = agenda_.posts.size();
  for (std::size_t i = 0; i < waiting; ++i) {
    const auto f = std::move(agenda_.posts.front());
    agenda_.posts.pop_front();
    const Recorder::Running running(recorder_, impl::Level::computation,
                                    {.kind = RecordedEvent::Kind::posted});
    const Attendant::Computation computation(attendant_);
    f(*node_);
    must_not_be_a_child();  // it may have forked, and returned in both
  }
  return waiting;
}

}  // namespace am::core
