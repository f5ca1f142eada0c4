// A site: an operator, a router, two fifo-buffers, and a net-input and net-output for the operator and for each channel (Byrd, Nakano and Delagi
// 1987, 2, Figure 1). Its evaluator is whoever uses the operator.
//
// A communication cycle has two phases (Table C). In the odd one net-inputs, and who else takes from a net-output or a buffer, latch the status
// from downstream and take data; in the even one the others do. So none reads in a phase what another one writes in it, but for the router's
// tables: its net-inputs have priority in turns (assumed).
#pragma once

#include <algorithm>
#include <vector>

#include "emulated_hw/care/fifo_buffer.hpp"
#include "emulated_hw/care/net_input.hpp"
#include "emulated_hw/care/net_output.hpp"
#include "emulated_hw/care/operator.hpp"
#include "emulated_hw/kit/fingerprint.hpp"

namespace am::care {

/// Its parts, as users of a machine see them: they change nothing.
class Site {
 public:
  /// These outlive it.
  Site(NodeNumber here, const Preferences& preferences, const Options& options, Counts& counts)
      : router(here, preferences),
        outputs(kit::ports_of(preferences.topology())),
        upstream(options, counts, 2 * here),
        downstream(options, counts, 2 * here + 1),
        its_operator(here, options, counts),
        channels_(outputs.size()) {
    for (PortNumber port = 0; port < outputs.size(); ++port) inputs.emplace_back(port, options, counts);
  }
  /// The channel from that port leads to, and from, that port of the other.
  void is_wired(PortNumber port, const Site& other, PortNumber its) noexcept {
    channels_[port] = {&other.outputs[its], &other.inputs[its]};
  }

  void odd_phase(Cycle now) {
    for (PortNumber port = 0; port < ports(); ++port) {
      const NetOutput& output = outputs[port];
      router.latch(port, {output.status_out(), output.is_first_wait(), output.took()});
    }
    const auto first = static_cast<PortNumber>(now % ports());
    for (PortNumber turn = 0; turn < ports(); ++turn) step_input((first + turn) % ports(), now);
    for (NetInput& input : inputs) input.step_final(router);
    upstream.step_input(outputs[local].packet_out(), now);
    downstream.step_input(its_operator.packet_out(), now);
    const std::uint64_t before = its_operator.taken();
    its_operator.step_receive(upstream.packet_out(), now);
    if (its_operator.taken() != before) moved_at_ = now;
  }
  void even_phase(Cycle now) {
    for (PortNumber port = 0; port < ports(); ++port) {
      const NetInput* to = channels_[port].to;
      if (port != local && to == nullptr) continue;
      const auto from = router.connection_of(port);
      outputs[port].step(from ? inputs[*from].packet_out(port, router) : Wire{},
                         to == nullptr ? upstream.status_out() : to->status_out());
    }
    upstream.step_output(its_operator.status_out(), now);
    downstream.step_output(inputs[local].status_out(), now);
    its_operator.step_send(downstream.status_out(), now);
  }

  [[nodiscard]] unsigned ports() const noexcept { return static_cast<unsigned>(inputs.size()); }
  /// Nothing changes in it before something comes.
  [[nodiscard]] bool is_idle() const noexcept {
    const auto idle = [](const auto& part) { return part.is_idle(); };
    return idle(its_operator) && idle(upstream) && idle(downstream) && std::ranges::all_of(inputs, idle) &&
           std::ranges::all_of(outputs, idle);
  }
  /// Words that are no pads, and terminators, that the channel from a port has carried; from `local`, what the operator has taken.
  [[nodiscard]] std::uint64_t carried(PortNumber port) const noexcept {
    if (port == local) return its_operator.taken();
    return channels_[port].to == nullptr ? 0 : channels_[port].to->words();
  }
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
  void step_input(PortNumber port, Cycle now) {
    const NetOutput* from = channels_[port].from;
    if (port != local && from == nullptr) return;
    NetInput& input = inputs[port];
    const std::uint64_t before = input.words();
    input.step(from == nullptr ? downstream.packet_out() : from->packet_out(), router);
    if (input.words() == before) return;
    moved_at_ = now;
    fingerprint_ += kit::mixed(kit::mixed(now, router.here() * ports() + port), input.packet() + 1);
  }

  std::vector<Channel> channels_;  // by port
  std::uint64_t fingerprint_ = 0;
  Cycle moved_at_ = 0;
};

}  // namespace am::care
