#include "emulated_hw/kit/node_port.hpp"

#include <stdexcept>

namespace am::kit {

unsigned NodePort::channel_named(std::string_view name) const {
  std::string all;
  for (unsigned channel = 0; channel < channels_.size(); ++channel) {
    if (channels_[channel] == name) return channel;
    all += channel == 0 ? "" : channel + 1 == channels_.size() ? " or " : ", ";
    all += channels_[channel];
  }
  throw std::invalid_argument("channel is " + all + ", not '" + std::string(name) + "'");
}

void check_that_it_moves(const NodePort& port, Cycle patience) {
  if (port.still_for() > patience && !port.is_empty())
    throw std::runtime_error("nothing has moved for " + std::to_string(port.still_for()) + " cycles:\n" +
                             who_waits(port));
}

}  // namespace am::kit
