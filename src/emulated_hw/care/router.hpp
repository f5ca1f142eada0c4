// A router of CARE: it connects the net-inputs of a site to its net-outputs (Byrd, Nakano and Delagi 1987, 4.6, Table G). It is a network of
// priorities, no state machine: its four tables, and what is read from them within a cycle.
#pragma once

#include <array>
#include <bit>
#include <optional>

#include "emulated_hw/care/packet.hpp"
#include "emulated_hw/care/preferences.hpp"
#include "emulated_hw/kit/ports.hpp"

namespace am::care {

class Router {
 public:
  static constexpr unsigned most_ports = 32;

  /// The preference table outlives it.
  Router(NodeNumber here, const Preferences& preferences) : here_(here), preferences_(preferences) {
    for (unsigned port = 1; port < kit::ports_of(preferences.topology()); ++port) {
      if (kit::neighbour(preferences.topology(), here, port) != kit::nowhere) outputs_ |= port_bit(port);
    }
  }

  [[nodiscard]] NodeNumber here() const noexcept { return here_; }

  /// What a net-output tells: an entry of the output-status-table. One that is free again is no longer connected.
  struct OutputStatus {
    Status status = Status::free;
    bool is_first_wait = false;
    bool took = false;
  };
  void latch(PortNumber output, const OutputStatus& status) noexcept {
    output_status_[output] = status;
    if (status.status != Status::free || !output_connection_[output]) return;
    input_connections_[*output_connection_[output]] &= ~port_bit(output);
    output_connection_[output].reset();
  }

  /// What the net-outputs of a net-input say together.
  struct Relayed {
    Status status = Status::open;  ///< open only when all are in a non-wait state; a first wait is none
    bool is_settled = true;        ///< not even a first wait
    Ports took = 0;
  };
  [[nodiscard]] Relayed relayed(PortNumber input) const noexcept {
    Relayed relayed;
    for (Ports left = input_connections_[input]; left != 0; left &= left - 1) {
      const auto& [status, is_first_wait, took] =
          output_status_[static_cast<unsigned>(std::countr_zero(left))];
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

  [[nodiscard]] bool is_available(PortNumber output) const noexcept {
    return output_status_[output].status == Status::free && !output_connection_[output] &&
           (outputs_ & port_bit(output)) != 0;
  }
  /// The first net-output of the preference list for that target which is available, or connected to this net-input; the local one for this
  /// site. None: seek.
  [[nodiscard]] std::optional<PortNumber> find(PortNumber input, NodeNumber target) const {
    for (const PortNumber output : considered(target)) {
      if (is_available(output) || (input_connections_[input] & port_bit(output)) != 0) return output;
    }
    return std::nullopt;
  }
  void connect(PortNumber input, PortNumber output) noexcept {
    input_connections_[input] |= port_bit(output);
    output_connection_[output] = input;
  }
  /// The net-outputs stay with it until they are free, but it no longer hears of them.
  void disconnect(PortNumber input, Ports outputs) noexcept { input_connections_[input] &= ~outputs; }
  [[nodiscard]] Ports connections(PortNumber input) const noexcept { return input_connections_[input]; }
  [[nodiscard]] std::optional<PortNumber> connection_of(PortNumber output) const noexcept {
    return output_connection_[output];
  }
  /// The list of the preference table, or the local one alone.
  [[nodiscard]] const Preferences::List& considered(NodeNumber target) const {
    return preferences_.list(here_, target);
  }

 private:
  const NodeNumber here_;
  const Preferences& preferences_;                                         // the preference-table
  Ports outputs_ = port_bit(local);                                        // those that lead anywhere
  std::array<Ports, most_ports> input_connections_{};                      // the input-connection-table
  std::array<std::optional<PortNumber>, most_ports> output_connection_{};  // the output-connection-table
  std::array<OutputStatus, most_ports> output_status_{};                   // the output-status-table
};

}  // namespace am::care
