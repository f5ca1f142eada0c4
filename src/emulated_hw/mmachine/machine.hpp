// An M-Machine: chips on their mesh, under one clock.
//
//   Machine machine({.width = 4, .height = 4});
//   machine.place(address, [](Thread& thread) -> Program { ... });            // a handler, on all nodes
//   machine.chip(0).thread(0, 0).run([](Thread& thread) -> Program { ... }, Privilege::user);
//   machine.run_until([&] { return done; });
#pragma once

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

  explicit Machine(const Mesh::Shape& shape);

  [[nodiscard]] NodeNumber nodes() const noexcept { return mesh_->nodes(); }
  [[nodiscard]] Chip& chip(NodeNumber node) { return *chips_.at(node); }
  [[nodiscard]] Mesh& mesh() noexcept { return *mesh_; }
  [[nodiscard]] Cycle now() const noexcept override { return now_; }
  void place(std::uint64_t address, const Thread::Code& code);

  void step(std::span<const NodeNumber> order = {}) override;
  [[nodiscard]] std::string who_waits() const override;

 private:
  [[nodiscard]] Cycle still_for() const override { return mesh_->still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return mesh_->under_way() != 0; }
  [[nodiscard]] bool all_sleep() const override { return awake_->empty(); }
  [[nodiscard]] bool is_busy_for(Cycle cycles) const override;

  Cycle now_ = 0;
  std::vector<std::unique_ptr<Chip>> chips_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<kit::Awake> awake_;
};

}  // namespace am::mmachine
