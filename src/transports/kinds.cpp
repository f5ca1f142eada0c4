#include "transports/kinds.hpp"

#include <array>

#include "transports/ofi/ofi_transport.hpp"
#include "transports/tcp/tcp_transport.hpp"
#ifdef AM_MACHINES
#include "transports/emulated/care_transport.hpp"
#include "transports/emulated/cm5_transport.hpp"
#include "transports/emulated/iwarp_transport.hpp"
#include "transports/emulated/mmachine_transport.hpp"
#include "transports/emulated/ncube2_transport.hpp"
#include "transports/emulated/router_counts.hpp"
#include "transports/emulated/t1_transport.hpp"
#endif

namespace am {

std::span<const Kind> kinds() {
  static const std::array table = {
      Kind{.name = "shm",
           .meaning = "shared memory",
           .options = {},
           .within_a_host = true,
           .between_hosts = false,
           .in_interrupts = true,
           .make = {}},
      Kind{.name = "tcp",
           .meaning = "TCP",
           .options = {},
           .within_a_host = true,
           .between_hosts = true,
           .in_interrupts = false,
           .make = [](const Site& site) { return std::make_unique<tcp::TcpTransport>(site); }},
#ifdef AM_MACHINES
      Kind{.name = "t1",
           .meaning = "an emulated T1 network",
           .options = "ROWSxCOLUMNS",
           .within_a_host = true,
           .between_hosts = false,
           .in_interrupts = true,
           .make = [](const Site& site) { return std::make_unique<emulated::T1Transport>(site); },
           .counts = emulated::t1_counts},
      Kind{.name = "mmachine",
           .meaning = "an emulated M-Machine network",
           .options = "ROWSxCOLUMNS",
           .within_a_host = true,
           .between_hosts = false,
           .in_interrupts = true,
           .make = [](const Site& site) { return std::make_unique<emulated::MMachineTransport>(site); },
           .counts = emulated::mmachine_counts},
      Kind{.name = "ncube2",
           .meaning = "an emulated nCUBE/2 network",
           .options = {},
           .within_a_host = true,
           .between_hosts = false,
           .in_interrupts = true,
           .make = [](const Site& site) { return std::make_unique<emulated::Ncube2Transport>(site); },
           .counts = emulated::ncube2_counts},
      Kind{.name = "cm5",
           .meaning = "an emulated CM-5's networks",
           .options = {},
           .within_a_host = true,
           .between_hosts = false,
           .in_interrupts = true,
           .make = [](const Site& site) { return std::make_unique<emulated::Cm5Transport>(site); },
           .counts = emulated::cm5_counts},
      Kind{.name = "iwarp",
           .meaning = "an emulated iWarp's torus",
           .options = "ROWSxCOLUMNS",
           .within_a_host = true,
           .between_hosts = false,
           .in_interrupts = true,
           .make = [](const Site& site) { return std::make_unique<emulated::IwarpTransport>(site); },
           .counts = emulated::iwarp_counts},
      Kind{.name = "care",
           .meaning = "an emulated CARE network",
           .options = "torus[:ROWSxCOLUMNS]|cube",
           .within_a_host = true,
           .between_hosts = false,
           .in_interrupts = true,
           .make = [](const Site& site) { return std::make_unique<emulated::CareTransport>(site); },
           .counts = emulated::care_counts},
#endif
      Kind{.name = "ofi",
           .meaning = "libfabric",
           .options = "PROVIDER",
           .within_a_host = true,
           .between_hosts = true,
           .in_interrupts = false,
           .make = [](const Site& site) { return std::make_unique<ofi::OfiTransport>(site); },
           .moves = true},
  };
  return table;
}

}  // namespace am
