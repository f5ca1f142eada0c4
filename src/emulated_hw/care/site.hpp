// A site: an operator, a router, two fifo-buffers, and a net-input and net-output for the operator and for each channel (Byrd, Nakano and Delagi
// 1987, 2, Figure 1). Its evaluator is whoever uses the operator.
//
// A communication cycle has two phases (Table C). In the odd one net-inputs, and who else takes from a net-output or a buffer, latch the status
// from downstream and take data; in the even one the others do. So none reads in a phase what another one writes in it, but for the router's
// tables: its net-inputs have priority in turns (assumed).
#pragma once

#include <vector>

#include "emulated_hw/care/fifo_buffer.hpp"
#include "emulated_hw/care/net_input.hpp"
#include "emulated_hw/care/net_output.hpp"
#include "emulated_hw/care/operator.hpp"

namespace am::care {

class Site {
 public:
  /// These outlive it.
  Site(NodeNumber here, const Preferences& preferences, const Options& options, Counts& counts);

  /// The channel from that port leads to, and from, that port of the other.
  void is_wired(PortNumber port, Site& other, PortNumber its);

  void odd_phase(Cycle now);
  void even_phase(Cycle now);

  [[nodiscard]] NodeNumber here() const noexcept { return router_.here(); }
  [[nodiscard]] unsigned ports() const noexcept { return static_cast<unsigned>(inputs_.size()); }
  [[nodiscard]] bool has(PortNumber port) const noexcept {
    return port == local || wires_[port].site != nullptr;
  }
  [[nodiscard]] Operator& its_operator() noexcept { return operator_; }
  [[nodiscard]] const Operator& its_operator() const noexcept { return operator_; }
  [[nodiscard]] const Router& router() const noexcept { return router_; }
  [[nodiscard]] const NetInput& input(PortNumber port) const { return inputs_.at(port); }
  [[nodiscard]] const NetOutput& output(PortNumber port) const { return outputs_.at(port); }
  /// From the network to the operator, and the other one.
  [[nodiscard]] const FifoBuffer& upstream() const noexcept { return upstream_; }
  [[nodiscard]] const FifoBuffer& downstream() const noexcept { return downstream_; }
  /// Nothing changes in it before something comes.
  [[nodiscard]] bool is_idle() const noexcept;
  /// Words that are no pads, and terminators, that its net-inputs have taken from other sites; it has been so in this cycle.
  [[nodiscard]] std::uint64_t link_words() const noexcept;
  /// A number that depends on what has come to its net-inputs, and when.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// When a word, or a terminator, has last gone on.
  [[nodiscard]] Cycle moved_at() const noexcept { return moved_at_; }

 private:
  struct Channel {
    Site* site = nullptr;
    PortNumber port = 0;
  };

  [[nodiscard]] const Wire& into(PortNumber port) const;
  [[nodiscard]] Status status_into(PortNumber port) const;
  void step_input(PortNumber port, Cycle now);

  Router router_;
  std::vector<NetInput> inputs_;
  std::vector<NetOutput> outputs_;
  FifoBuffer upstream_;
  FifoBuffer downstream_;
  Operator operator_;
  std::vector<Channel> wires_;  // by port
  std::uint64_t fingerprint_ = 0;
  Cycle moved_at_ = 0;
};

}  // namespace am::care
