#include "core/job/place.hpp"

#include <am/error.hpp>
#include <cerrno>
#include <cstdint>
#include <string>

namespace am::core {

namespace {

/// FNV-1a: names of sockets are short, names of jobs are not.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 14695981039346656037u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value;
}

}  // namespace

Descriptor claim_place(std::string_view job, NodeId id) {
  constexpr int backlog = 16;  // nobody is ever accepted: those who come look who we are and leave
  const std::string name = "libam-place-" + std::to_string(hash(job)) + "-" + std::to_string(id);
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
