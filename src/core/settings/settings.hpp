// Every setting of libam, and the only place of the library that reads the environment.
//
// A setting is a member of Settings, with its default, and one row of the table in settings.cpp: name, member
// (which gives the type) and meaning. Everything else (reading, `aminfo`, errors, the nearest known name)
// follows from the row.
//
// These functions are pure: they read the environment they are given (usually `environ`), keep nothing, and
// may be called on any thread as long as nobody changes that environment meanwhile. Unless said otherwise the
// empty value counts as not set.
#pragma once

#include <am/types.hpp>
#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace am::core {

// What the death of a peer does: end the job, or become an event and `Status::unreachable` (clause 11).
enum class PeerDeath { end, survive };

struct Settings {
  // Set by amrun for the nodes it starts; all three are absent in a program that was started otherwise.
  int rank = -1;
  int size = 0;
  int memory_fd = -1;

  std::uint64_t segment_bytes = std::uint64_t{64} << 20;  // at most max_size_bytes
  std::string transport = "auto";                         // parse_networks (core/messages/networks.hpp)
  std::uint64_t host_timeout_ns = 10'000'000'000;         // 0: never; at most max_duration_ns
  std::string tcp_interfaces;  // parsed by the network (transports/tcp/address.hpp)
  bool tcp_tls = false;
  std::string agent;                               // amrun's (tools/amrun/agent.hpp)
  std::string job;                                 // parse_appointment (core/job/appointment.hpp)
  std::string faults;                              // parsed by the fault decorator
  std::uint64_t cm5_swap_ns = 0;                   // 0: never; at most max_duration_ns
  std::uint64_t timeout_ns = 600'000'000'000;      // 0: never; at most max_duration_ns
  std::uint64_t report_after_ns = 10'000'000'000;  // 0: never; at most max_duration_ns
  std::uint64_t watchdog_ns = 0;                   // 0: none; at most max_duration_ns
  int watchdog_signal = 0;                         // 0: none
  bool stats = false;
  bool verbose = false;
  PeerDeath peer_death = PeerDeath::end;
  Dispatch dispatch = Dispatch::poll;
  int signal = SIGURG;  // that interrupts a node
};

// Throws am::Error for the first malformed value; it names the variable, the value, the expected form and an
// example. Also when just one of AM_RANK and AM_SIZE is set, or the rank is not below the size.
Settings read_settings(const char* const* environment);

// One row of the table as people see it.
struct SettingRow {
  enum class Origin { built_in, environment };

  std::string_view name;
  std::string type;  // "duration", "auto|shm", ...
  std::string default_value;
  std::string value;  // as it is used; the raw text where it is malformed
  Origin origin = Origin::built_in;
  std::string_view meaning;
  std::string problem;  // why the value cannot be used, else empty
};

// All rows in the order of the table. A malformed value does not throw here, it fills `problem`.
std::vector<SettingRow> describe_settings(const char* const* environment);

// A name that starts with AM_ and is no setting, with the one most like it.
struct UnknownSetting {
  std::string name;
  std::string_view nearest;

  std::string text() const;  // one line for people, without a line end
};

// Sorted by name, each name once. Whoever prints these prints them once per job (node 0).
std::vector<UnknownSetting> unknown_settings(const char* const* environment);

// What other launchers say in the environment about the job this process belongs to.
struct LauncherEnvironment {
  bool pmix = false;  // a PMIx server left its address and our place: joining through PMIx should work
  std::optional<int> claimed_size;  // the launcher says that so many processes were started together
  std::optional<int> claimed_rank;  // and that this is the one of them; set whenever claimed_size is
  std::string claimed_by;           // for messages: "mpirun (OMPI_COMM_WORLD_SIZE=4)"
};

// Never throws for a strange value: these variables are not ours, what cannot be read is no claim. A process
// that ends up as a job of one although claimed_size > 1 is one of N singletons, which is an error (see
// docs/contract.md).
LauncherEnvironment read_launcher_environment(const char* const* environment);

}  // namespace am::core
