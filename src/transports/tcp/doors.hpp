// Where a node takes connections from other hosts: at the addresses that the user has named (AM_TCP_INTERFACES), and no other one;
// else at all that this host has. A port for each address: the same one may be another program's there.
#pragma once

#include <string_view>
#include <vector>

#include "transports/tcp/address.hpp"
#include "transports/tcp/socket.hpp"

namespace am::tcp {

struct Doors {
  std::vector<Socket> listening{};
  std::vector<Address> told{};  ///< to other hosts, with their ports; the one to be tried first in front
};
/// `interfaces`: AM_TCP_INTERFACES. Throws am::Error.
[[nodiscard]] Doors open_doors(std::string_view interfaces);

}  // namespace am::tcp
