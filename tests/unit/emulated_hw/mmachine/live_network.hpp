// The M-Machine's live network, and nodes that count what comes, and take messages of P0 or not, as a test has it.
#pragma once

#include "emulated_hw/mmachine/live_mesh.hpp"
#include "support/steps.hpp"
#include "unit/emulated_hw/kit/live_network.hpp"

namespace test {

using namespace am::mmachine;

using enum MessageKind;
inline constexpr MessageKind all_kinds[] = {p0_ordered, p1_ordered, p0_unordered, p1_unordered};
/// As what it is counted at its end; and where it came from, when it comes back.
constexpr Counted taken_as(MessageKind kind) noexcept {
  constexpr Counted as[] = {Counted::p0, Counted::p1, Counted::p0_unordered, Counted::p1_unordered};
  return as[static_cast<std::size_t>(kind)];
}
constexpr Counted back_as(MessageKind kind) noexcept {
  return kind == p0_ordered ? Counted::back : Counted::back_unordered;
}

inline constexpr am::kit::Requests all_inputs = am::kit::request(live_channels) - 1;
constexpr unsigned input_at(unsigned port, unsigned channel) noexcept {
  return port * most_channels + channel;
}

class LiveNetwork final : public LiveNetworkOf<LiveMesh, Counted, kinds_of_counted> {
 public:
  LiveNetwork(unsigned rows, unsigned columns)
      : LiveNetworkOf(rows * columns, rows, columns), took_(rows * columns) {}

  /// What takes() says.
  std::function<bool(NodeNumber)> takes_p0 = [](NodeNumber) { return true; };

  [[nodiscard]] bool takes(NodeNumber at) noexcept override { return takes_p0(at); }
  void took(NodeNumber at) noexcept override { ++took_[at]; }

  [[nodiscard]] unsigned times_took(NodeNumber at) const noexcept { return took_[at]; }
  [[nodiscard]] const am::kit::LiveChannel& input(NodeNumber node, unsigned its) const noexcept {
    return mesh_.router(node).inputs[its];
  }

  /// Puts it in where it comes from, and carries it.
  [[nodiscard]] bool send(const LiveMessage& message) {
    if (!mesh_.inject(message.source, message)) return false;
    mesh_.carry(message.source, message.priority());
    return true;
  }
  /// The same, but its carrier is killed when it has come over the first link. False: it has not come there.
  [[nodiscard]] bool send_to_next(const LiveMessage& message) {
    if (!mesh_.inject(message.source, message)) return false;
    return carry_out_of(message.source, input_of(message.priority()));
  }
  /// A carrier takes the first message out of an input, and is killed then.
  [[nodiscard]] bool carry_out_of(NodeNumber node, unsigned its) {
    const std::atomic<std::uint64_t>& left = input(node, its).left;
    const auto has_left = [&left, before = left.load()] { return left != before; };
    try {
      LiveMesh::Carrier<EndsWhen<decltype(has_left)>>(mesh_, {has_left}).run(node, am::kit::request(its), 1);
    } catch (const Steps::Killed&) {
    }
    return has_left();
  }
  /// How many are in a channel.
  [[nodiscard]] unsigned filled(NodeNumber node, unsigned its) const {
    const std::uint64_t left = input(node, its).left;
    if (its == input_of(Priority::p0) || its == input_of(Priority::p1))
      return static_cast<unsigned>(am::kit::Entry{input(node, its).entries}.beyond(left));
    const unsigned channel = its == going_back ? 0 : its % most_channels;
    const am::kit::LinkEntry link(input(node, its - channel).entries);
    return static_cast<unsigned>((link.count(channel) - left) % am::kit::LinkEntry::counts);
  }
  /// Nothing has been let into any channel that has not left it.
  [[nodiscard]] bool is_empty() const {
    for (NodeNumber node = 0; node < nodes_; ++node) {
      for (unsigned its = 0; its < live_channels; ++its) {
        if (its != 2 && filled(node, its) != 0) return false;
      }
    }
    return true;
  }
  /// That have come into channels of links and of what is sent back, and out at nodes.
  [[nodiscard]] std::uint64_t flits() const {
    std::uint64_t all = 0;
    for (NodeNumber node = 0; node < nodes_; ++node) {
      all += mesh_.router(node).to_node;
      for (const am::kit::LiveChannel& each : std::span(mesh_.router(node).inputs).subspan(going_back))
        all += each.flits;
    }
    return all;
  }
  [[nodiscard]] std::uint64_t refused(NodeNumber node) const {
    std::uint64_t all = 0;
    for (const am::kit::LiveChannel& each : mesh_.router(node).inputs) all += each.refused;
    return all;
  }

 private:
  std::vector<std::atomic<unsigned>> took_;
};

}  // namespace test
