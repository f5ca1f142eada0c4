#include "models/cmam/state.hpp"

#include <am/error.hpp>
#include <am/start.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "models/broken.hpp"
#include "models/cmam/messages.hpp"
#include "models/symbol_name.hpp"

namespace am::models::cmam {

namespace {

constexpr std::size_t room_for_put_off = 1024;

Node& start_here() noexcept {
  try {
    return start(0, nullptr, {.interrupt_safe = true});  // its programs knew interrupts
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): a program's first call
  }
}

}  // namespace

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]  // here, too, or it is forgotten
#endif
thread_local constinit Here here{};

void work_for(Node& node) {
  const CriticalSection quiet(node);  // an interrupt's handler looks here, too
  here = {&node, &node.own<State>(), find_program_code(), {}};
}

State& join() {
  Node* const node = this_node();
  work_for(node != nullptr ? *node : start_here());
  return *here.state;
}

State::State(Node& node)
    : node_(node), interrupts_(node.dispatch() != Dispatch::poll), started_by(node.size()) {
  put_off_.reserve(room_for_put_off);
  split.heard.resize(node.size());
  for (std::vector<Given>& given : split.given) given.resize(node.size());
}

State::~State() {
  if (here.state == this) here = {};
}

bool State::set_interrupts(bool on) {
  bool before = interrupts_;
  if (node_.level() != Level::computation) return before;
  {
    const CriticalSection quiet(node_);  // a handler may ask
    before = std::exchange(interrupts_, on);
    refuses_interrupts_ = !on;
  }
  if (on) {
    polled_.reset();
  } else if (!polled_) {
    polled_.emplace(node_);
  }
  return before;
}

void State::put_off(const PutOff& what) {
  const CriticalSection quiet(node_);
  if (put_off_.size() == put_off_.capacity() && node_.dispatch() == Dispatch::interrupt)
    broken(node_.id(), "handlers have sent ", room_for_put_off,
           " messages that the network had no room for, and in the interrupt mode there is no memory for "
           "more: poll more often");
  put_off_.push_back(what);
  if (will_send_) return;
  will_send_ = true;
  post_put_off();
}

void State::let_ends_run(bool yes) {
  ends_run_ = yes;
  if (yes && will_send_) post_put_off();
}

/// In the computation, where sends may wait. Meanwhile handlers may put off more. What one throws leaves, and the rest goes in the
/// next poll.
void State::send_put_off() {
  try {
    while (const std::optional<PutOff> next = first_put_off()) {
      if (next->what == PutOff::What::end_of_transfer && !ends_run_) return;
      send_one_put_off(*next);
    }
  } catch (...) {
    post_put_off();
    throw;
  }
}

std::optional<PutOff> State::first_put_off() {
  const CriticalSection quiet(node_);
  if (first_ != put_off_.size()) return put_off_[first_];
  put_off_.clear();
  first_ = 0;
  will_send_ = false;
  return std::nullopt;
}

/// A message is off the list when it was sent, an end before it runs: its handler has had it, also where it throws.
void State::send_one_put_off(const PutOff& next) {
  const auto is_done = [this] {
    const CriticalSection quiet(node_);
    ++first_;
  };
  if (next.what == PutOff::What::message) {
    request_of_computation(node_, next);
    is_done();
  } else {
    is_done();
    call(reinterpret_cast<Code>(next.code), next.words[0], next.words[1], 0, 0);
  }
}

void not_in_this_handler(const State& state, const char* call) {
  const Level level = state.node().level();
  const Code handler = here.running[static_cast<int>(level)];
  broken(state.node().id(), call, " in the ", level == Level::high ? "reply" : "request", " handler ",
         SymbolName(reinterpret_cast<std::uintptr_t>(handler)).text(),
         level == Level::high ? ": a reply handler sends nothing and waits for nothing"
                              : ": only the computation may do that");
}

NodeId checked_node(const State& state, const char* call, int to) {
  if (to >= 0 && static_cast<NodeId>(to) < state.node().size()) [[likely]]
    return static_cast<NodeId>(to);
  broken(state.node().id(), call, " to node ", to, " of a job of ", state.node().size());
}

void only_in_the_computation(const State& state, const char* call) {
  if (state.node().level() != Level::computation) not_in_this_handler(state, call);
}

}  // namespace am::models::cmam
