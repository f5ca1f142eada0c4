#include "emulated_hw/care/router.hpp"

#include <bit>

namespace am::care {

Router::Router(NodeNumber here, const Preferences& preferences) : here_(here), preferences_(preferences) {
  for (unsigned port = 1; port < kit::ports_of(preferences.topology()); ++port) {
    if (kit::neighbour(preferences.topology(), here, port) != kit::nowhere) outputs_ |= port_bit(port);
  }
}

void Router::latch(PortNumber output, const OutputStatus& status) noexcept {
  output_status_[output] = status;
  if (status.status != Status::free || !output_connection_[output]) return;
  input_connections_[*output_connection_[output]] &= ~port_bit(output);
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
  for (const PortNumber output : considered(target)) {
    if (is_available(output) || (input_connections_[input] & port_bit(output)) != 0) return output;
  }
  return std::nullopt;
}

void Router::connect(PortNumber input, PortNumber output) noexcept {
  input_connections_[input] |= port_bit(output);
  output_connection_[output] = input;
}

}  // namespace am::care
