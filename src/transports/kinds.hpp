// The table of networks that this build of the library contains: one row each. A network is a folder and its row here; core
// learns from the row what it has to know before it makes one.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "transports/site.hpp"
#include "transports/transport.hpp"

namespace am {

struct Kind {
  std::string_view name;     ///< in AM_TRANSPORT; lower-case letters and digits
  std::string_view meaning;  ///< for people, a few words
  std::string_view options;  ///< the form of what may stand behind name and colon; none: nothing may
  bool within_a_host;        ///< leads to nodes of the same host
  bool between_hosts;        ///< leads to nodes of other hosts; has a control lane then
  bool in_interrupts;        ///< its functions may be called in a signal handler
  /// Throws am::Error. Empty: shared memory, whose rings the inline path fills, so that core makes it in any case.
  std::function<std::unique_ptr<Transport>(const Site&)> make;
  /// What it has counted itself about a node of this host, as lines of text; empty where it is not used. Called also by who is no
  /// node of the job. Empty: a network that counts nothing itself.
  std::function<std::string(const std::shared_ptr<const host::Memory>&, NodeId)> counts{};
  bool moves =
      false;  ///< reads and writes segments itself (MemoryReach::begin_move): it is given this node's
};

/// In the order in which they are chosen.
[[nodiscard]] std::span<const Kind> kinds();

}  // namespace am
