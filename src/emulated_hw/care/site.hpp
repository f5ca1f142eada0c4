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

/// Its parts, as users of a machine see them: they change nothing.
class Site {
 public:
  /// These outlive it.
  Site(NodeNumber here, const Preferences& preferences, const Options& options, Counts& counts);
  /// The channel from that port leads to, and from, that port of the other.
  void is_wired(PortNumber port, const Site& other, PortNumber its) noexcept {
    channels_[port] = {&other.outputs[its], &other.inputs[its]};
  }

  void odd_phase(Cycle now);
  void even_phase(Cycle now);

  [[nodiscard]] unsigned ports() const noexcept { return static_cast<unsigned>(inputs.size()); }
  /// Nothing changes in it before something comes.
  [[nodiscard]] bool is_idle() const noexcept;
  /// Words that are no pads, and terminators, that the channel from a port has carried; from `local`, what the operator has taken.
  [[nodiscard]] std::uint64_t carried(PortNumber port) const noexcept;
  /// The net-input to which the channel from a port leads.
  [[nodiscard]] const NetInput& receiver(PortNumber port) const noexcept { return *channels_[port].to; }
  /// A number that depends on what has come to its net-inputs, and when.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// When a word, or a terminator, has last gone on.
  [[nodiscard]] Cycle moved_at() const noexcept { return moved_at_; }

  Router router;
  std::vector<NetInput> inputs;  // by port
  std::vector<NetOutput> outputs;
  FifoBuffer upstream;    ///< from the network to the operator
  FifoBuffer downstream;  ///< the other one
  Operator its_operator;

 private:
  struct Channel {
    const NetOutput* from = nullptr;
    const NetInput* to = nullptr;
  };
  void step_input(PortNumber port, Cycle now);

  std::vector<Channel> channels_;  // by port
  std::uint64_t fingerprint_ = 0;
  Cycle moved_at_ = 0;
};

}  // namespace am::care
