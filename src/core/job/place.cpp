#include "core/job/place.hpp"

#include <am/error.hpp>
#include <cerrno>
#include <string>

#include "host/hash.hpp"

namespace am::core {

Descriptor claim_place(std::string_view job, NodeId id) {
  constexpr int backlog = 16;  // nobody is ever accepted: those who come look who we are and leave
  // Names of sockets are short, names of jobs are not.
  const std::string name = "libam-place-" + std::to_string(host::hash_of(job)) + "-" + std::to_string(id);
  Descriptor claim = listen_local(name, backlog);
  if (claim || errno != EADDRINUSE) return claim;

  constexpr int timeout_ms = 100;
  std::string holder = "another process";
  if (const Descriptor socket = connect_local(name, timeout_ms)) {
    const auto pid = own_peer(socket.get());
    if (!pid) return {};
    holder = "process " + std::to_string(*pid);
  }
  throw Error("join the job", holder + " is node " + std::to_string(id) + " of this job already",
              "start one process per node: was the program started twice by a wrapper, or by a node?");
}

}  // namespace am::core
