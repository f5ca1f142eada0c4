// A machine as programs see it that run on all of them: nodes that send each other a handler's number and three words, or a block of memory,
// compute, and wait. What each of these costs is the machine's; what runs on it does not know which it is.
//
//   Machine& machine = *machine_of("cm5", 16);
//   const unsigned pong = machine.place([&](Machine::Incoming&) -> Program { answered = true; co_return; });
//   const unsigned ping = machine.place([&](Machine::Incoming& in) -> Program { co_await in.reply(pong, {}); });
//   machine.run(0, [&]() -> Program {
//     co_await machine.request(0, 5, ping, {1, 2, 3});
//     co_await machine.wait(0, [&] { return answered; });
//   });
//   machine.run_or_throw([&] { return answered; });
//
// With its sender, a message has four words behind the handler: the two that the T1 and the CM-5 would not tell are the program's.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/program.hpp"

namespace am::across {

using kit::Cycle;
using kit::NodeNumber;
using kit::Program;
using Word = std::uint32_t;
using Words = std::array<Word, 3>;

class Machine {
 public:
  virtual ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] NodeNumber nodes() const noexcept { return nodes_; }
  /// Of its processors, so far.
  [[nodiscard]] virtual Cycle cycles() const = 0;

  /// A message, in its handler.
  struct Incoming {
    NodeNumber here = 0;
    NodeNumber from = 0;
    Words words{};
    /// To the sender: once, and in the handler of a request alone.
    std::function<Program(unsigned handler, Words words)> reply{};
  };
  using Handler = std::function<Program(Incoming&)>;
  /// On all nodes: its number. Before any runs.
  unsigned place(Handler handler) {
    handlers_.push_back(std::move(handler));
    return static_cast<unsigned>(handlers_.size() - 1);
  }

  using Computation = std::function<Program()>;
  /// Once for each node, and for all: one that computes nothing may still have to poll.
  virtual void run(NodeNumber node, Computation computation) = 0;
  /// Until pred() holds. Throws std::runtime_error where the machine cannot go on: who waits for whom.
  virtual void run_or_throw(const std::function<bool()>& pred) = 0;

  // -- what a node's computation waits for

  /// Returns when the message has been accepted.
  virtual Program request(NodeNumber here, NodeNumber to, unsigned handler, Words words) = 0;
  /// So many words of its memory go to the other's, which runs the handler when it has all: with block_sum() of what has come. Up to
  /// most_block; a node sends another the next one when that handler has run.
  virtual Program put(NodeNumber here, NodeNumber to, unsigned words, unsigned handler) = 0;
  virtual Program compute(NodeNumber here, unsigned cycles) = 0;
  /// Handlers run in these: by polls where the machine polls.
  virtual Program wait(NodeNumber here, std::function<bool()> until) = 0;
  virtual Program poll(NodeNumber here) = 0;

  static constexpr unsigned most_block = 2048;
  /// The word that a node's memory has there.
  [[nodiscard]] static constexpr Word block_word(NodeNumber node, unsigned at) noexcept {
    return (node + 1) * 0x9e3779b9u + at * 0x85ebca6bu;
  }
  [[nodiscard]] static constexpr Word block_sum(NodeNumber node, unsigned words) noexcept {
    return sum_of(words, [node](unsigned at) { return block_word(node, at); });
  }

 protected:
  /// Of a block that has come: word(at). A word in another's place changes it.
  template <class WordAt>
  [[nodiscard]] static constexpr Word sum_of(unsigned words, WordAt word) {
    Word sum = 0;
    for (unsigned at = 0; at < words; ++at) sum += word(at) * (at + 1);
    return sum;
  }
  explicit Machine(NodeNumber nodes) noexcept : nodes_(nodes) {}
  Program handle(unsigned handler, Incoming& incoming) { return handlers_.at(handler)(incoming); }
  [[nodiscard]] std::size_t handlers() const noexcept { return handlers_.size(); }

 private:
  NodeNumber nodes_;
  std::vector<Handler> handlers_;
};

struct Kind {
  std::string_view name;
  std::string_view title;
  double cycle_ns;  ///< of its processors; 0 where its paper gives none
};
/// Lee (1999) and the T1 report give no clock.
inline constexpr std::array kinds{Kind{"t1", "T1", 0}, Kind{"mmachine", "M-Machine", 0},
                                  Kind{"ncube2", "nCUBE/2", 50}, Kind{"cm5", "CM-5", 1000.0 / 33}};

/// A new one of so many nodes, a power of 4, or 2. Throws std::invalid_argument.
[[nodiscard]] std::unique_ptr<Machine> machine_of(std::string_view name, NodeNumber nodes);

}  // namespace am::across
