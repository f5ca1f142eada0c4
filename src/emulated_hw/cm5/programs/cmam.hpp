// CMAM on a CM-5: a handler's number and four words to any node, in user mode alone (von Eicken 1993, 3.2.4, conclusion; T1 report, 3.5).
//
//   Cmam cmam(machine);
//   const Word pong = cmam.place([&](Processor& cpu, Cmam::Incoming& in) -> Program { ... });
//   co_await cmam.request(cpu, 5, ping, {1, 2, 3, 4});     // from a computation
//   co_await cmam.reply(cpu, in.arguments[0], pong, {});   // from a request's handler
//   co_await cmam.poll(cpu);
//
// Requests take the left network, replies the right one. A send looks at send_ok; while it is refused, a request polls both networks, and a
// reply polls the right one alone. So nodes that poll never wait for each other in a circle. A request's handler polls no requests, a reply's
// handler polls nothing. A message does not say who sent it.
//
// Assumed: the code, instruction by instruction. Operands are where they have to be: of five words, two stand in a pair of registers each time.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "emulated_hw/cm5/machine.hpp"

namespace am::cm5 {

class Cmam {
 public:
  using Arguments = std::array<Word, 4>;
  struct Incoming {
    Arguments arguments;
  };
  using Handler = std::function<Program(Processor&, Incoming&)>;

  Cmam() = default;
  Cmam(const Cmam&) = delete;  // programs refer to it
  Cmam& operator=(const Cmam&) = delete;

  /// On all nodes: its number. It lives as long as this.
  Word place(Handler handler) {
    handlers_.push_back(std::move(handler));
    return static_cast<Word>(handlers_.size() - 1);
  }
  /// Throws std::out_of_range where a message names a handler that has not been placed.
  Program request(Processor& cpu, NodeNumber to, Word handler, Arguments arguments) {
    return send(cpu, Side::left, to, handler, arguments);
  }
  Program reply(Processor& cpu, NodeNumber to, Word handler, Arguments arguments) {
    return send(cpu, Side::right, to, handler, arguments);
  }

  /// Where a block goes that a node is to get from another, and the handler that runs when all of it has come: with the other's number and
  /// the words. Addresses are even.
  struct Segment {
    Word at = 0;
    Word words = 0;
    Word handler = 0;
  };
  /// What CMAM_open_segment does, at no cost. One for each sender.
  void open_segment(NodeNumber here, NodeNumber from, const Segment& segment) {
    segments_[{here, from}] = {segment, segment.words};
  }
  /// Words from there on to the segment of that number on the other node, four in each message, whose tag and first word say so.
  Program xfer(Processor& cpu, NodeNumber to, Word segment, Word at, Word words);

  /// Handles all that has come, by both networks.
  Program poll(Processor& cpu);

  /// Sends that the interface has dropped, on all nodes.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

 private:
  struct Open {
    Segment what;
    Word left = 0;  // words that have not come
  };
  Program send(Processor& cpu, Side side, NodeNumber to, Word handler, Arguments arguments);
  Program serve(Processor& cpu, Side side);
  Program take_message(Processor& cpu, Side side);
  Program take_piece(Processor& cpu, Side side);

  std::vector<Handler> handlers_;
  std::map<std::pair<NodeNumber, Word>, Open> segments_;  // by receiver and sender
  std::uint64_t refused_ = 0;
};

/// What its code takes, accesses to the interface not included. Assumed.
namespace costs {
inline constexpr unsigned enter_send =
    call + 2 * constant;  ///< the addresses of send-first, with length and tag, and of the status
inline constexpr unsigned enter_poll = call + window + constant;
inline constexpr unsigned next_network = constant;
inline constexpr unsigned leave_poll = window + back;
inline constexpr unsigned dispatch =
    2 * operation + test_and_branch + call;  ///< tag and length out of the status; is the tag a user's
inline constexpr unsigned loop = branch;
inline constexpr unsigned next_piece =
    2 * operation + test_and_branch;  ///< of a block that is sent: counts, and a branch
inline constexpr unsigned segment =
    cache_read.two_words + 3 * operation + test_and_branch;  ///< where a piece goes, and how many are left
}  // namespace costs

}  // namespace am::cm5
