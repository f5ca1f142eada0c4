// A machine whose nodes are a processor each, or a chip: those that have nothing to do sleep, until something comes.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/kit/awake.hpp"
#include "emulated_hw/kit/fingerprint.hpp"
#include "emulated_hw/kit/machine.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::kit {

template <class Processor>
class MachineOf : public Machine {
 public:
  [[nodiscard]] Processor& node(NodeNumber node) { return *processors_.at(node); }
  [[nodiscard]] NodeNumber nodes() const noexcept { return static_cast<NodeNumber>(processors_.size()); }
  [[nodiscard]] std::string who_waits() const override {
    Waits waits;
    add_network_waits(waits);
    for (const auto& processor : processors_) processor->add_waits(waits);
    const std::string text = waits.text();
    return text.empty() ? nobody_waits_ : text;
  }

 protected:
  /// `nobody_waits`: what who_waits() says where nobody does. Both texts are literals.
  MachineOf(const char* name, NodeNumber nodes, const char* nobody_waits = "all programs have ended\n")
      : Machine(name), nobody_waits_(nobody_waits), awake_(nodes) {}
  ~MachineOf() = default;

  /// The next node.
  template <class... Args>
  Processor& add_node(Args&&... args) {
    return *processors_.emplace_back(std::make_unique<Processor>(std::forward<Args>(args)...));
  }
  /// The same, whose idle cycles are left out. `cycles`: that all processors have made; it outlives this.
  template <class... Args>
  void add(const Cycle& cycles, Args&&... args) {
    add_node(std::forward<Args>(args)...).is_stepped_by(cycles);
  }
  [[nodiscard]] const std::vector<std::unique_ptr<Processor>>& processors() const noexcept {
    return processors_;
  }
  [[nodiscard]] NodeBell bell(NodeNumber node) noexcept { return awake_.bell(node); }
  /// A node has nothing to do until that cycle, unless its bell is rung.
  void sleeps(NodeNumber node, Cycle until) noexcept { awake_.sleeps(node, until); }
  /// A cycle of those that do not sleep; or of all, in that order. `step(node)`: whether that node has nothing to do from now on.
  template <class Step>
  void step_nodes(std::span<const NodeNumber> order, Step step) {
    if (!order.empty()) {
      for (const NodeNumber node : order) step(node);
      return;
    }
    awake_.for_each(now(), [&](NodeNumber node) {
      if (step(node)) awake_.sleeps(node);
    });
  }
  /// A number that depends on `network`, and on what processors did.
  [[nodiscard]] std::uint64_t fingerprint_with(std::uint64_t network) {
    for (const auto& processor : processors_) {
      const typename Processor::Spent& spent = processor->spent();
      for (const std::uint64_t one : {spent.computing, spent.dispatching, spent.handling, spent.idle})
        network = mixed(network, one);
    }
    return network;
  }

  [[nodiscard]] bool all_sleep() const override { return awake_.empty(); }

 private:
  virtual void add_network_waits(Waits& waits) const = 0;
  [[nodiscard]] bool is_busy_for(Cycle cycles) const override {
    return std::ranges::any_of(processors_, [=](const auto& each) { return each->is_busy_for(cycles); });
  }

  const char* nobody_waits_;
  Awake awake_;
  std::vector<std::unique_ptr<Processor>> processors_;
};

}  // namespace am::kit
