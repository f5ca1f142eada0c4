#include "emulated_hw/care/router.hpp"

#include <bit>

namespace am::care {

void Router::latch(PortNumber output, const OutputStatus& status) noexcept {
  output_status_[output] = status;
  if (status.status != Status::free || !output_connection_[output]) return;
  input_connections_[*output_connection_[output]] &= ~kit::port_bit(output);
  output_connection_[output].reset();
}

Router::Relayed Router::relayed(PortNumber input) const noexcept {
  Relayed relayed;
  for (Ports left = input_connections_[input]; left != 0; left &= left - 1) {
    const auto& [status, is_first_wait, took] = output_status_[static_cast<unsigned>(std::countr_zero(left))];
    if (took) relayed.took |= left & -left;
    if (is_first_wait) relayed.is_settled = false;
    if (status == Status::abort_request) {
      relayed.status = Status::abort_request;
    } else if (status == Status::wait && !is_first_wait && relayed.status == Status::open) {
      relayed.status = Status::wait;
    }
  }
  return relayed;
}

std::optional<PortNumber> Router::find(PortNumber input, NodeNumber target) const {
  const auto is_usable = [&](PortNumber output) {
    return is_available(output) || (input_connections_[input] & kit::port_bit(output)) != 0;
  };
  if (target == here_) return is_usable(local) ? std::optional(local) : std::nullopt;
  for (const PortNumber output : preferences_.list(preferences_.direction(here_, target))) {
    if (is_usable(output)) return output;
  }
  return std::nullopt;
}

void Router::connect(PortNumber input, PortNumber output) noexcept {
  input_connections_[input] |= kit::port_bit(output);
  output_connection_[output] = input;
}

Ports Router::considered(NodeNumber target) const {
  Ports all = kit::port_bit(local);
  if (target == here_) return all;
  for (const PortNumber output : preferences_.list(preferences_.direction(here_, target)))
    all |= kit::port_bit(output) & outputs_;
  return all;
}

}  // namespace am::care
