// What a job is to a node: its id, its size, the memory its host's nodes share, and how it came to be in it.
//
// Five ways to join one, one file each: amrun.cpp (AM_RANK, AM_SIZE and AM_HOST_MEMORY_FD from the launcher), by_appointment.cpp
// (AM_JOB), pmix.cpp (mpirun, prterun, srun), single.cpp (alone), and a job of threads (src/core/node/threads.cpp), which makes its own Jobs.
#pragma once

#include <am/types.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/settings/settings.hpp"
#include "host/memory.hpp"
#include "transports/kinds.hpp"

namespace am::core {

struct Job {
  NodeId id = 0;
  NodeId size = 1;
  std::shared_ptr<host::Memory> memory;
  std::string found;      ///< for people: "amrun", "AM_JOB (...)", "PMIx (namespace x)", "alone", "threads"
  bool processes = true;  ///< false: the nodes are threads of this process
  /// Under amrun: nothing lies between it and this process. The kernel ends the node with it, and it learns how the node ended.
  bool child_of_launcher = false;
  /// Told when the node has left the job in good order; may be empty.
  std::function<void()> leave;
  /// The networks that there are.
  std::span<const Kind> kinds = am::kinds();
  /// In a job of several hosts (NodeFacts::on_host), whose boards have a card for each node: brings the facts of the other hosts'
  /// nodes to this host's board, marks them as joined, and tells those who wait. Called by the first node of the host when all of it
  /// have joined; waits for the other hosts. Throws am::Error. Under amrun, which does it itself: not called.
  std::function<void()> exchange_cards{};
};

/// Joins the job that the environment tells of: amrun's, else AM_JOB's, else PMIx's, else a job of one. Throws am::Error when the
/// environment claims a job of several that cannot be joined: N jobs of one where one of N was meant help nobody.
[[nodiscard]] Job join_job(const Settings& settings);

}  // namespace am::core
