// What a node has of GAM, and what its calls have in common: see <am/gam.h>.
//
//  - A GAM request is a libam request, a GAM reply a libam reply, and their handlers run as libam's do. The node polls in every mode
//    (Node::poll_only), so they run in polls: a reply that waits for room runs reply handlers only, as GAM's does.
//  - A handler travels as a word of models/code_address.hpp, with five words beside it: one line. Who does not know a handler says so.
//  - store, get, reply_xfer and medium messages carry their bytes as a payload. Addresses of memory travel as they are.
//  - What a node sends to itself runs before the call returns, where the network does not hold it back, as TCPAM's does.
//  - In LAM and TCPAM a barrier's messages follow all others on their channels. Here a node that has sent something since the last
//    barrier sends a mark behind it, and arrives when all marks are answered: what it has asked for has come then.
//
// The node's own thread only.
#pragma once

#include <am/gam.h>
#include <am/node.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "models/polling.hpp"

namespace am::models::gam {

enum class Level : std::uint8_t { computation, request, reply };

/// What a node has sent to another one.
struct Link {
  bool sent = false;  ///< requests, since the last mark
  std::uint64_t marks = 0;
  std::uint64_t answered_marks = 0;
};

struct State {
  explicit State(Node& its_node) : node(its_node), others(its_node), links(its_node.size()) {}

  /// What is there; who finds nothing for a while lets others run.
  void poll() { others.after_poll(node.poll()); }

  Node& node;
  bool enabled = false;
  int error = GAM_OK;
  Level level = Level::computation;
  LetOthersRun others;
  std::uint64_t ran = 0;                          // handlers
  std::array<std::vector<std::byte>, 2> buffers;  // of the medium message that runs, by level
  std::vector<Link> links;                        // by node
};

/// While a handler runs.
class Running {
 public:
  Running(State& state, Level level) noexcept : state_(state), before_(std::exchange(state.level, level)) {
    ++state.ran;
  }
  ~Running() { state_.level = before_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  State& state_;
  Level before_;
};

/// This thread's, or null.
State* state_here() noexcept;
/// The same, where gam_enable was called; else gam_errno() says that it was not.
State* enabled_here() noexcept;

inline int fail(State& state, int error) noexcept {
  state.error = error;
  return -1;
}

/// Returns when the others have run what this node has sent since its last barrier, and what they have answered has run here. Gives
/// back what a handler threw meanwhile: the others count on this node. Throws am::Error where one that was sent something is gone.
[[nodiscard]] std::exception_ptr wait_for_all_sent(State& state);

}  // namespace am::models::gam
