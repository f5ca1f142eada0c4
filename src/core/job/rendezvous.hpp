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
#include <optional>
#include <span>

#include "core/job/invitation.hpp"
#include "core/job/local_socket.hpp"
#include "core/settings/settings.hpp"
#include "host/patience.hpp"

namespace am::core {

using host::every_process_remedy;
using host::in_seconds;
using host::name_nodes;
using host::Patience;

/// As AM_TIMEOUT and AM_REPORT_AFTER say; reports go to standard error.
[[nodiscard]] Patience patience_of(const Settings& settings, NodeId self);

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

/// The same from a node that may not stand by its invitation yet: `invitation` is asked again and again, and may wait itself for a
/// while. Throws am::Error when it does not come in time, too.
[[nodiscard]] Descriptor fetch_when_there(const std::function<std::optional<Invitation>()>& invitation,
                                          NodeId first, NodeId id, const Patience& patience);

}  // namespace am::core
