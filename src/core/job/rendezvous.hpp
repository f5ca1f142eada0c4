// How the first node of a host hands the host's memory, a descriptor, to the others there, where the launcher
// can only carry short texts between them: it sends an invitation by the launcher, the others come to a local
// socket with it.
//
// Not a protocol between machines. What protects it: the name of the socket is random, so nobody can sit on
// it first; the kernel vouches at both ends that the other is of the same user; and nothing of a packet is
// looked at before its key has been found right. The key travels as it is: it passes through no hands but the
// kernel's, to a verified user.
//
// One thread per object; serving needs no thread of its own and returns when all have come.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/job/invitation.hpp"
#include "core/job/local_socket.hpp"

namespace am::core {

/// How long to wait for others.
struct Patience {
  std::uint64_t timeout_ns = 0;       ///< then the wait ends with an error; 0: never
  std::uint64_t report_after_ns = 0;  ///< then `report` is told, once, who is missing; 0: never
  std::function<void(const std::string&)> report;
};

class RendezvousServer {
 public:
  /// Others can come from here on, and wait until they are served. Throws am::Error.
  explicit RendezvousServer(const Invitation& invitation);

  /// Gives a duplicate of `fd` to each of `nodes`, once; others are turned away and disturb nobody. Throws am::Error that names
  /// the missing nodes.
  void serve(int fd, std::span<const NodeId> nodes, const Patience& patience);

 private:
  class Round;

  Invitation invitation_;
  Descriptor listener_;
};

/// The descriptor, close-on-exec, for node `id`, from node `first`; empty where nobody stands by the invitation,
/// no more or not here. Throws am::Error, also when a server listens but does not answer within `timeout_ns`
/// (0: waits for ever).
[[nodiscard]] Descriptor fetch(const Invitation& invitation, NodeId first, NodeId id,
                               std::uint64_t timeout_ns);

// For messages.

inline constexpr const char* every_process_remedy =
    "every process of the job has to start libam, once; AM_TIMEOUT=0 waits for ever, for example for a "
    "debugger";
/// "12 s", below a second "0.2 s"
[[nodiscard]] std::string in_seconds(std::uint64_t duration_ns);
/// "node 3", "nodes 1, 2 and 7", "nodes 1, 2, 3, 4, 5, 6, 7, 8 and 23 more"
[[nodiscard]] std::string name_nodes(const std::vector<NodeId>& nodes);

}  // namespace am::core
