#include "emulated_hw/mmachine/machine.hpp"

#include <algorithm>

namespace am::mmachine {

// The mesh says what is wrong with a shape that cannot be.
Machine::Machine(const Mesh::Shape& shape) : kit::Machine("mmachine") {
  std::vector<NetworkUnits*> units;
  const NodePlace last{static_cast<std::uint8_t>(shape.width - 1),
                       static_cast<std::uint8_t>(shape.height - 1)};
  for (unsigned node = 0; node < shape.width * shape.height && node < Mesh::most_extent * Mesh::most_extent;
       ++node) {
    const NodePlace here{static_cast<std::uint8_t>(node % shape.width),
                         static_cast<std::uint8_t>(node / shape.width)};
    units.push_back(chips_.emplace_back(std::make_unique<Chip>(here, last, now_)).get());
    chips_.back()->output().set_buffers(usual_buffers);
  }
  mesh_ = std::make_unique<Mesh>(shape, std::move(units));
  awake_ = std::make_unique<kit::Awake>(nodes());
  for (NodeNumber node = 0; node < nodes(); ++node)
    chips_[node]->rings(awake_->bell(node), mesh_->bell(node));
}

void Machine::place(std::uint64_t address, const Thread::Code& code) {
  for (const auto& chip : chips_) chip->place(address, code);
}

void Machine::step(std::span<const NodeNumber> order) {
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

bool Machine::is_busy_for(Cycle cycles) const {
  return std::ranges::any_of(chips_, [=](const auto& chip) { return chip->is_busy_for(cycles); });
}

std::string Machine::who_waits() const {
  kit::Waits waits;
  mesh_->add_waits(waits);
  for (const auto& chip : chips_) chip->add_waits(waits);
  const std::string text = waits.text();
  return text.empty() ? "all programs have ended, or wait for messages\n" : text;
}

}  // namespace am::mmachine
