// A CARE machine: sites on a grid, a torus or a hypercube, under one clock of communication cycles (Byrd, Nakano and Delagi 1987).
//
//   Machine machine(kit::Grid{{8}, {8}});
//   machine.send(0, {{3}, {17}, {60}}, {1, 2, 3});  // one packet, to any list of sites
//   machine.run_or_throw([&] { return machine.is_empty(); });
//   for (const auto& delivery : machine.delivered(17)) ...
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/care/site.hpp"
#include "emulated_hw/kit/machine.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::care {

class Machine final : public kit::Machine {
 public:
  /// Throws std::invalid_argument.
  explicit Machine(const kit::Topology& topology, const Options& options = {},
                   const Preferences::Strategy& strategy = Preferences::closest_first);

  [[nodiscard]] NodeNumber nodes() const noexcept { return static_cast<NodeNumber>(sites_.size()); }
  [[nodiscard]] const kit::Topology& topology() const noexcept { return preferences_.topology(); }
  [[nodiscard]] const Site& site(NodeNumber node) const { return *sites_.at(node); }
  [[nodiscard]] Site& site(NodeNumber node) { return *sites_.at(node); }

  // -- for evaluators

  [[nodiscard]] bool has_room(NodeNumber from) const { return site(from).its_operator.has_room(); }
  /// There is room. A target that is named twice is served twice. Throws std::invalid_argument: no targets, or one that there is not.
  PacketNumber send(NodeNumber from, const std::vector<Target>& targets, std::vector<std::uint32_t> data);
  /// What has come to a site, until it is cleared.
  [[nodiscard]] std::vector<Operator::Delivery>& delivered(NodeNumber node) {
    return site(node).its_operator.delivered();
  }
  /// Nothing is under way.
  [[nodiscard]] bool is_empty() const noexcept { return awake_.empty(); }

  // -- the clock

  [[nodiscard]] Cycle now() const noexcept override { return cycles_; }
  void step(std::span<const NodeNumber> order = {}) override;
  [[nodiscard]] Cycle still_for() const override { return cycles_ - moved_at_; }

  // -- for people

  [[nodiscard]] std::string who_waits() const override;
  /// By packets, and operators that have no room.
  void add_waits(kit::Waits& waits) const;
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;
  /// Words that are no pads, and terminators, that links between sites have carried.
  [[nodiscard]] std::uint64_t link_words() const noexcept;
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  [[nodiscard]] bool messages_are_under_way() const override { return !is_empty(); }
  [[nodiscard]] bool all_sleep() const override { return is_empty(); }
  [[nodiscard]] bool is_busy_for(Cycle /*cycles*/) const override { return false; }

  void end_cycle(NodeNumber node);

  const Options options_;
  const Preferences preferences_;
  Counts counts_{};
  std::vector<std::unique_ptr<Site>> sites_;
  kit::NodeSet awake_;
  std::vector<NodeNumber> stepped_;  // in this cycle
  Cycle cycles_ = 0;
  Cycle moved_at_ = 0;
  PacketNumber last_packet_ = 0;
};

}  // namespace am::care
