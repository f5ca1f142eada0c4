// An M-Machine: chips on their mesh, under one clock.
//
//   Machine machine({.width = 4, .height = 4});
//   machine.place(address, [](Thread& thread) -> Program { ... });            // a handler, on all nodes
//   machine.chip(0).thread(0, 0).run([](Thread& thread) -> Program { ... }, Privilege::user);
//   machine.run_until([&] { return done; });
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/awake.hpp"
#include "emulated_hw/kit/machine.hpp"
#include "emulated_hw/mmachine/chip.hpp"
#include "emulated_hw/mmachine/mesh.hpp"

namespace am::mmachine {

class Machine : public kit::Machine {
 public:
  /// Each node may have so many throttled messages under way: its bounce buffers (3.3.2).
  static constexpr unsigned usual_buffers = 16;

  // The mesh says what is wrong with a shape that cannot be.
  explicit Machine(const Mesh::Shape& shape) : kit::Machine("mmachine") {
    std::vector<NetworkUnits*> units;
    const NodeNumber nodes = std::min(shape.nodes(), Mesh::most_extent * Mesh::most_extent);
    for (NodeNumber node = 0; node < nodes; ++node) {
      chips_.push_back(std::make_unique<Chip>(shape.place_of(node), shape.place_of(shape.nodes() - 1), now_));
      chips_.back()->output().set_buffers(usual_buffers);
      units.push_back(chips_.back().get());
    }
    mesh_ = std::make_unique<Mesh>(shape, std::move(units));
    awake_ = std::make_unique<kit::Awake>(nodes);
    for (NodeNumber node = 0; node < nodes; ++node)
      chips_[node]->rings(awake_->bell(node), mesh_->bell(node));
  }

  [[nodiscard]] NodeNumber nodes() const noexcept { return mesh_->nodes(); }
  [[nodiscard]] Chip& chip(NodeNumber node) { return *chips_.at(node); }
  [[nodiscard]] Mesh& mesh() noexcept { return *mesh_; }
  [[nodiscard]] Cycle now() const noexcept override { return now_; }
  void place(std::uint64_t address, const Thread::Code& code) {
    for (const auto& chip : chips_) chip->place(address, code);
  }

  void step(std::span<const NodeNumber> order = {}) override {
    if (order.empty()) {
      awake_->for_each(now_, [this](NodeNumber node) {
        chips_[node]->step();
        if (chips_[node]->has_nothing_to_do()) awake_->sleeps(node);
      });
    } else {
      for (const NodeNumber node : order) chips_[node]->step();
    }
    mesh_->step(order);
    ++now_;
  }
  [[nodiscard]] std::string who_waits() const override {
    kit::Waits waits;
    mesh_->add_waits(waits);
    for (const auto& chip : chips_) chip->add_waits(waits);
    const std::string text = waits.text();
    return text.empty() ? "all programs have ended, or wait for messages\n" : text;
  }

 private:
  [[nodiscard]] Cycle still_for() const override { return mesh_->still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return mesh_->under_way() != 0; }
  [[nodiscard]] bool all_sleep() const override { return awake_->empty(); }
  [[nodiscard]] bool is_busy_for(Cycle cycles) const override {
    return std::ranges::any_of(chips_, [=](const auto& chip) { return chip->is_busy_for(cycles); });
  }

  Cycle now_ = 0;
  std::vector<std::unique_ptr<Chip>> chips_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<kit::Awake> awake_;
};

}  // namespace am::mmachine
