#include "emulated_hw/iwarp/machine.hpp"

#include <algorithm>

namespace am::iwarp {

Machine::Machine(const kit::Wiring& wiring, const Share& share, std::size_t words)
    : kit::Machine("iwarp"), network_(wiring, share) {
  for (CellNumber cell = 0; cell < cells(); ++cell) processors_.emplace_back(network_.agent(cell), words);
}

void Machine::step(std::span<const CellNumber> order) {
  if (order.empty()) {
    for (Processor& processor : processors_) processor.step();
  } else {
    for (const CellNumber cell : order) processors_[cell].step();
  }
  network_.step(order);
}

/// Stalled, or ended: where nothing has moved, nothing will.
bool Machine::all_sleep() const { return std::ranges::all_of(processors_, &Processor::is_idle); }

bool Machine::is_busy_for(Cycle cycles) const {
  return std::ranges::any_of(processors_, [=](const Processor& each) { return each.is_busy_for(cycles); });
}

bool Machine::have_ended() const {
  return std::ranges::all_of(processors_,
                             [](const Processor& each) { return each.has_ended() && !each.is_in_handler(); });
}

std::string Machine::who_waits() const {
  kit::Waits waits;
  network_.add_waits(waits);
  for (const Processor& processor : processors_) processor.add_waits(waits);
  const std::string text = waits.text();
  return text.empty() ? "all programs have ended\n" : text;
}

}  // namespace am::iwarp
