// How a node joins its job: it takes its place, fills in its card, waits for the others, and checks that all run the same
// program. Knows no network and no event. Used by the node's own thread, before its first message.
#pragma once

#include <am/error.hpp>
#include <optional>

#include "core/events/handler_table.hpp"
#include "core/job/job.hpp"
#include "core/membership/hosts.hpp"
#include "core/settings/settings.hpp"
#include "host/bell.hpp"
#include "host/life_lock.hpp"

namespace am::core {

class Joining {
 public:
  /// Takes the node's place, first of all: one that comes second, by mistake, must not touch the card, nor speak in the node's
  /// name. The place is held as long as this lives, and so do all that are named. Throws am::Error.
  Joining(const Job& job, const Settings& settings, const HandlerTable& table, const Hosts& hosts);

  /// What others are to know of this node. `mapped_at`: where its process sees the rings. Throws am::Error.
  void fill_in_card(std::uint64_t mapped_at);
  /// Says that the node is there, waits until all of the job are, and checks that they can work together. Throws am::Error.
  void meet_others();

 private:
  [[nodiscard]] const host::Board& board() const noexcept { return job_.memory->board(); }
  [[nodiscard]] host::NodeCard& card() const noexcept { return board().card(job_.id); }
  [[nodiscard]] bool first_here() const noexcept { return hosts_.here().front() == job_.id; }
  [[nodiscard]] std::uint64_t now() const noexcept;
  void take_place();
  void meet_other_hosts() const;
  void nudge_all_here() const noexcept;
  void wait_for(NodeId nodes, bool here);
  void sleep(std::uint64_t ns) noexcept;
  void compare_programs() const;
  void compare_pid_namespaces() const;
  [[noreturn]] void cannot_join(const Error& error, const char* same_on_all) const;

  const Job& job_;
  const Settings& settings_;
  const HandlerTable& table_;
  const Hosts& hosts_;
  host::Bell bell_;
  std::optional<host::Life> life_;
};

}  // namespace am::core
