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

#include "emulated_hw/mmachine/chip.hpp"
#include "emulated_hw/mmachine/mesh.hpp"

namespace am::mmachine {

class Machine {
 public:
  /// Each node may have so many throttled messages under way: its bounce buffers (3.3.2).
  static constexpr unsigned usual_buffers = 16;

  explicit Machine(const Mesh::Shape& shape);
  Machine(const Machine&) = delete;  // its chips refer to its clock
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] NodeNumber nodes() const noexcept { return mesh_->nodes(); }
  [[nodiscard]] Chip& chip(NodeNumber node) { return *chips_.at(node); }
  [[nodiscard]] Mesh& mesh() noexcept { return *mesh_; }
  [[nodiscard]] Cycle now() const noexcept { return now_; }
  void place(std::uint64_t address, const Thread::Code& code);

  /// One cycle. `order`: if given, all nodes, in the order in which they are stepped.
  void step(std::span<const NodeNumber> order = {});
  /// Until pred() holds. False, and nothing has moved in the network for `patience` cycles, when it does not.
  template <class Pred>
  bool run_until(Pred pred, Cycle patience = 10'000) {
    const Cycle begin = now_;
    while (!pred()) {
      step();
      if (mesh_->still_for() > patience && now_ - begin > patience) return false;
    }
    return true;
  }

 private:
  Cycle now_ = 0;
  std::vector<std::unique_ptr<Chip>> chips_;
  std::unique_ptr<Mesh> mesh_;
};

}  // namespace am::mmachine
