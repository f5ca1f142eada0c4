// CMAM and CMAML on libam's interface: what a node keeps, and which node and level a call comes from. <am/cmam.h> is what programs
// see; docs/porting.md says what was decided where descriptions are unsure.
//
//   CM-5                                        here
//   left network (requests)                     low priority; handlers run on the low level
//   right network (replies)                     high priority; the high level, in which nothing may be sent
//   CMAM_4, CMAM_request_4, CMAML_request       node.request: waits for room, polling. In a request handler, which must not wait for
//                                               the low network: try_request, or put off until the node's next poll
//   CMAM_reply_4, CMAML_reply                   node.reply_to, any number of them, to whom the program says
//   CMAML_rpc ("may use either network")        low from the computation, high from a request handler: so it never has to be put off
//   polls in a request handler                  node.poll_replies; in a reply handler nothing
//   CMAM_xfer, CMAML_scopy                      payloads of at most 256 KiB, low from the computation, high from a request handler
//   end-of-transfer handlers                    always on the low level, or in the computation: they may send
//   interrupts off                              a PolledSection: handlers run in calls that make progress, whosever these are
//   CMMD's messages                             a question (low), its answer when a receive fits (high), then the bytes (high)
//   control network (CMMD's collectives)        libam's collectives; where the program has switched interrupts off, messages
//                                               that come meanwhile are kept until its next poll (MessagesKept)
//
// A call has no node argument: `here` is the thread's. What runs is the node's to tell (Node::level), and so is the state (Node::own):
// nodes that are threads of one process share nothing. Called by a node's thread and by its handlers, wherever they run.
#pragma once

#include <am/events.hpp>
#include <am/node.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/cmam/exchange.hpp"
#include "models/cmam/rports.hpp"
#include "models/cmam/segments.hpp"
#include "models/cmam/split.hpp"
#include "models/code_address.hpp"
#include "models/polling.hpp"

namespace am::models::cmam {

using Word = std::intptr_t;

class State;

/// Whom this thread works for, at hand: each message looks here.
struct Here {
  Node* node;         ///< null before the first call, as is all of this
  State* state;       ///< the node's
  CodeRange program;  ///< where there is any, there is a node
  Code running[3];    ///< by level: the handler that runs, or ran last
};
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern thread_local constinit Here here;

/// A short message, or the end of a transfer, that has to wait for the computation.
struct PutOff {
  enum class What : std::uint8_t { message, end_of_transfer };
  What what;
  std::uint32_t doubles;
  NodeId to;
  CodeWord code;  ///< as it travels; of an end, the function's address here
  Word words[4];
};

struct Timer {
  Count began = 0, elapsed = 0;
  std::uint64_t cpu_began = 0, cpu = 0;
  bool running = false;
};

class State {
 public:
  explicit State(Node& node);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Node& node() const noexcept { return node_; }

  /// For a request handler: a message that found no room, or an end of transfer that a reply brought. In order. The memory for a
  /// thousand is there; in the interrupt mode there is no more, and the node ends.
  void put_off(const PutOff& what);
  [[nodiscard]] bool has_put_off() const noexcept { return first_ != put_off_.size(); }

  // -- interrupts. Of the node's thread; in handlers, which nothing but replies interrupts, they tell and change nothing.
  bool set_interrupts(bool on);
  [[nodiscard]] bool interrupts() const noexcept { return interrupts_; }
  /// The program itself has switched them off, in whatever mode.
  [[nodiscard]] bool refuses_interrupts() const noexcept { return refuses_interrupts_; }

  /// Whether ends of transfers that were put off may run; those that had to wait do in the next poll.
  void let_ends_run(bool yes);

 private:
  void send_put_off();
  void post_put_off() {
    node_.post([this](Node&) { send_put_off(); });
  }
  std::optional<PutOff> first_put_off();
  void send_one_put_off(const PutOff& next);

  Node& node_;
  bool interrupts_;
  bool refuses_interrupts_ = false;
  bool ends_run_ = true;
  bool will_send_ = false;  // what was put off: it is posted, or has come to an end that may not run
  std::optional<PolledSection> polled_;  // while interrupts are off
  std::vector<PutOff> put_off_;
  std::size_t first_ = 0;  // of those that are still to be sent

 public:
  Segments segments;
  Rports rports;
  LetOthersRun others{node_};  ///< while the computation polls in vain

  // -- CMMD (send_receive.cpp, split.cpp, cmmd.cpp)
  Exchange exchange;
  SplitCollective split;
  static constexpr int timers = 64;
  Timer timer[timers];
  int global_or_bit = 0;
  std::int64_t nodes_with_bit = 0;
  std::uint64_t started = 0;              ///< split barriers, by this node
  std::vector<std::uint64_t> started_by;  ///< by each, as far as it has told
};

/// From now on this thread works for this node.
void work_for(Node& node);
/// This thread's node, which joins its job at the first call of a program.
[[nodiscard]] State& join();
[[nodiscard]] inline State& state() {
  State* const known = here.state;
  return known != nullptr ? *known : join();
}

/// Around a handler of the program that may run inside another one of its level, or before this thread works for the node.
class Running {
 public:
  Running(Node& node, Code handler) : level_(node.level()) {
    if (here.node != &node) work_for(node);
    before_ = std::exchange(here.running[static_cast<int>(level_)], handler);
  }
  ~Running() { here.running[static_cast<int>(level_)] = before_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Level level_;
  Code before_;
};

/// Ends the node: a call that the running handler must not make.
[[noreturn]] void not_in_this_handler(const State& state, const char* call);
/// Ends the node where `to` is none of the job's.
NodeId checked_node(const State& state, const char* call, int to);
/// Ends the node where a handler runs.
void only_in_the_computation(const State& state, const char* call);

}  // namespace am::models::cmam
