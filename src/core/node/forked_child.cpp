#include "core/node/forked_child.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <vector>

#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
#include "host/connections.hpp"

namespace am::core {

namespace {

/// The nodes of this process. Locked while it forks, so that the child finds the list whole.
struct Nodes {
  std::mutex mutex;
  std::vector<Engine*> engines;
};
Nodes& nodes() {
  static auto* const the = new Nodes;  // never destroyed: a child may be forked at any time
  return *the;
}

void before_fork() noexcept { nodes().mutex.lock(); }
void in_parent() noexcept { nodes().mutex.unlock(); }
void in_child() noexcept {
  for (Engine* engine : nodes().engines) engine->disown();
  host::close_connections();
  nodes().mutex.unlock();
}

}  // namespace

KeptFromChildren::KeptFromChildren(Engine& engine) : engine_(engine) {
  static const bool hooked = pthread_atfork(&before_fork, &in_parent, &in_child) == 0;
  if (!hooked) throw std::bad_alloc();
  const std::lock_guard lock(nodes().mutex);
  nodes().engines.push_back(&engine_);
}

KeptFromChildren::~KeptFromChildren() {
  const std::lock_guard lock(nodes().mutex);
  std::erase(nodes().engines, &engine_);
}

/// Turns the node into one whose inline paths fail, and whose polls ask.
void Engine::withdraw() noexcept {
  disowned_ = true;
  plain_ = mixed_ = false;   // polls take the way that asks
  something_else_ = true;    // and so does one that is under way
  node_->events_.masks = 0;  // which runs no further event
  memory_.forget_segments();
}

/// Between fork and what the child does next.
void Engine::disown() noexcept {
  withdraw();
  node_->shared_ = false;  // the thread that it shared the node with is not here
  node_->lock_.leave_events();
  networks_.leave_to_parent();
  job_.memory->separate();
}

/// Where a handler on a thread of its own has ended the program, the node's thread may still come by: the process ends without it.
void Engine::end_stranger() const noexcept {
  const bool on_handler_thread = left_ && node_->shared_;  // it stays there then (Attendant::stop)
  while (on_handler_thread && card().pid == getpid() && std::this_thread::get_id() != retired_by_) pause();
  if (left_ && card().pid == getpid())
    broken(job_.id,
           "the program uses its node when that has left the job, as it does after main and in std::exit: "
           "does a global "
           "object do so as it is destroyed? (one that is made after am::start goes before the node leaves)");
  broken(job_.id, "a forked child, process ", getpid(),
         ", uses the node of its parent: only the process that joined the job is the node "
         "(the child may execute another program, or end)");
}

}  // namespace am::core
