#include "emulated_hw/kit/node_port.hpp"

#include <stdexcept>
#include <string>

#include "emulated_hw/kit/names.hpp"

namespace am::kit {

unsigned NodePort::channel_named(std::string_view name) const {
  return static_cast<unsigned>(index_of_name("channel", name, channels_));
}

void check_that_it_moves(const NodePort& port, Cycle patience) {
  if (port.still_for() > patience && !port.is_empty())
    throw std::runtime_error("nothing has moved for " + std::to_string(port.still_for()) + " cycles:\n" +
                             who_waits(port));
}

}  // namespace am::kit
