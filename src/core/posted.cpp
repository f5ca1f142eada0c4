// Work of the program that runs in its polls and is computation all the same: what was posted, and what is to be done about
// the death of a peer.
#include "core/engine.hpp"

namespace am::core {

/// While one lives the node's thread is not in the node.
class Engine::Computation {
 public:
  explicit Computation(Engine& engine) noexcept : engine_(engine), active_(engine.node_->shared_) {
    if (!active_) return;
    engine_.look_ourselves();  // so that the node is armed now
    depth_ = engine_.step_out();
  }
  ~Computation() {
    if (!active_) return;
    engine_.step_in(depth_);
    engine_.look_ourselves();
  }
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

 private:
  Engine& engine_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

/// Not held up by a post that waits: it may wait for this very news.
std::size_t Engine::tell_of_deaths() {
  std::size_t told = 0;
  for (; !untold_deaths_.empty(); ++told) {
    const NodeId dead = untold_deaths_.front();
    untold_deaths_.pop_front();
    const auto f = on_peer_death_;  // it may replace itself
    const Recorder::Running running(recorder_, impl::Level::computation,
                                    {.kind = RecordedEvent::Kind::peer_death, .from = dead});
    const Computation computation(*this);
    if (f) f(*node_, dead);
    must_not_be_a_child();
  }
  return told;
}

/// Work posted before this poll; what it posts itself waits for the next one. While one waits and so polls, the others
/// wait, too: they run in order, one after another, and a thousand of them do not pile up on the stack.
std::size_t Engine::run_posts() {
  if (posting_) return 0;
  struct Posting {
    bool& flag;
    ~Posting() { flag = false; }
  } const posting{posting_ = true};
  const std::size_t waiting = posts_.size();
  for (std::size_t i = 0; i < waiting; ++i) {
    const auto f = std::move(posts_.front());
    posts_.pop_front();
    const Recorder::Running running(recorder_, impl::Level::computation,
                                    {.kind = RecordedEvent::Kind::posted});
    const Computation computation(*this);
    f(*node_);
    must_not_be_a_child();  // it may have forked, and returned in both
  }
  return waiting;
}

}  // namespace am::core
