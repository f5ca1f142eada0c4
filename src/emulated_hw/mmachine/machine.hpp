// An M-Machine: chips on their mesh, under one clock.
//
//   Machine machine({.width = 4, .height = 4});
//   machine.place(address, [](Thread& thread) -> Program { ... });            // a handler, on all nodes
//   machine.chip(0).thread(0, 0).run([](Thread& thread) -> Program { ... }, Privilege::user);
//   machine.run_until([&] { return done; });
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "emulated_hw/kit/machine_of.hpp"
#include "emulated_hw/mmachine/chip.hpp"
#include "emulated_hw/mmachine/mesh.hpp"

namespace am::mmachine {

class Machine : public kit::MachineOf<Chip> {
 public:
  /// Each node may have so many throttled messages under way: its bounce buffers (3.3.2).
  static constexpr unsigned usual_buffers = 16;

  // The mesh says what is wrong with a shape that cannot be.
  explicit Machine(const Mesh::Shape& shape)
      : MachineOf("mmachine", nodes_of(shape), "all programs have ended, or wait for messages\n"),
        mesh_(shape, add_chips(shape)) {
    for (NodeNumber node = 0; node < nodes(); ++node) chip(node).rings(bell(node), mesh_.bell(node));
  }

  [[nodiscard]] Chip& chip(NodeNumber number) { return node(number); }
  [[nodiscard]] Mesh& mesh() noexcept { return mesh_; }
  [[nodiscard]] Cycle now() const noexcept override { return now_; }
  void place(std::uint64_t address, const Thread::Code& code) {
    for (const auto& chip : processors()) chip->place(address, code);
  }

  void step(std::span<const NodeNumber> order = {}) override {
    step_nodes(order, [this](NodeNumber number) {
      chip(number).step();
      return chip(number).has_nothing_to_do();
    });
    mesh_.step(order);
    ++now_;
  }

 private:
  static NodeNumber nodes_of(const Mesh::Shape& shape) {
    return std::min(shape.nodes(), Mesh::most_extent * Mesh::most_extent);
  }
  std::vector<NetworkUnits*> add_chips(const Mesh::Shape& shape) {
    std::vector<NetworkUnits*> units;
    for (NodeNumber node = 0; node < nodes_of(shape); ++node) {
      units.push_back(&add_node(shape.place_of(node), shape.place_of(shape.nodes() - 1), now_));
      chip(node).output().set_buffers(usual_buffers);
    }
    return units;
  }
  void add_network_waits(kit::Waits& waits) const override { mesh_.add_waits(waits); }
  [[nodiscard]] Cycle still_for() const override { return mesh_.still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return mesh_.under_way() != 0; }

  Cycle now_ = 0;
  Mesh mesh_;
};

}  // namespace am::mmachine
