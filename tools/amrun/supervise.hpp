// Watching a running job: takes what its nodes end with and the signals that reach amrun, and ends the job
// when a node fails. Sleeps until something happens; main thread only.
#pragma once

#include <sys/types.h>
#include <am/types.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "amrun/leftovers.hpp"
#include "amrun/signals.hpp"
#include "amrun/spawn.hpp"
#include "core/reports/job_watch.hpp"
#include "core/reports/onlooker.hpp"

namespace amrun {

// What of a job it has: all of it, alone or in turns with others, where somebody else stops it and lets it go on (gang.hpp), or what runs
// on one of several hosts.
enum class Role { whole, in_gang, part };

class Supervisor {
 public:
  using Say = std::function<void(const std::string& line)>;  // to the user, without "amrun: "; must not wait

  // `watchdog_ns`: reports when a node has made no progress for so long; 0: never.
  Supervisor(Role role, const am::core::Onlooker& job, const Spawner& spawner, const Signals& signals,
             Say say, std::uint64_t watchdog_ns);
  // Whatever is still running when something went wrong is killed.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void add(am::NodeId node, pid_t pid);
  // Told once, when the job is to end because of a node, with amrun's exit code.
  void on_failure(std::function<void(int exit_code)> told) { failure_told_ = std::move(told); }
  // Called in run() when a notice comes (Signals::notify).
  void on_notice(std::function<void()> called) { notice_called_ = std::move(called); }

  // Until no node is left, and nothing that nodes have started. Returns amrun's exit code.
  int run();
  // The signal that amrun got and the job ended by, or 0.
  [[nodiscard]] int ended_by() const noexcept { return ended_by_; }
  // Of a job that goes on without nodes that have failed: what the first of them ended with, or 0; and whether any node has left in
  // good order.
  [[nodiscard]] int first_failure() const noexcept { return first_failure_; }
  [[nodiscard]] bool any_success() const noexcept { return any_success_; }
  // All have ended well, and none has joined the job.
  [[nodiscard]] bool nobody_joined() const noexcept { return !strangers_.empty(); }

  // In on_notice. The job has failed on another host: asks the nodes here to end.
  void end_job();
  // Nobody is left who would hear how it ended: kills the nodes.
  void abandon();
  // A host is gone, and so are these, its nodes.
  void lost(std::span<const am::NodeId> nodes);

 private:
  struct Node {
    am::NodeId id;
    pid_t pid;
  };

  void watch();
  [[nodiscard]] std::optional<std::uint64_t> time_to_wait() const;
  void take(const siginfo_t& info);
  void pass_on(const siginfo_t& info);
  [[nodiscard]] bool asks_again(int number);
  void look_at_clock(std::uint64_t now_ns);
  void kill_job(int number, const char* when);
  void collect();
  void node_ended(Node node, int wait_status);
  void node_failed(Node node, int wait_status, am::host::Standing standing);
  void look_at_strangers();
  void report(Node node, int wait_status, am::host::Standing standing);
  [[nodiscard]] std::string what_it_left(am::NodeId dead) const;
  [[nodiscard]] bool job_survives(std::optional<am::NodeId> dead) const;
  void send_all(int number) const;

  const Role role_;
  const am::core::Onlooker& job_;
  const am::host::Board& board_;
  const Spawner& spawner_;
  const Signals& signals_;
  Say say_;
  std::function<void(int exit_code)> failure_told_;
  std::function<void()> notice_called_;
  Leftovers leftovers_;
  std::vector<Node> running_;
  std::vector<Node> strangers_;  // have ended well without joining; when somebody else joins they have failed
  std::optional<am::core::JobWatch> watch_;
  std::uint64_t next_look_ns_ = 0;             // of the watch; monotonic
  std::optional<std::uint64_t> kill_at_ns_;    // monotonic: when patience with the nodes of a failed job ends
  std::optional<std::uint64_t> insist_at_ns_;  // monotonic: when patience with nodes after SIGTERM ends
  bool interrupted_ = false;
  bool terminated_ = false;
  bool ending_ = false;
  int last_passed_on_ = 0;
  int ended_by_ = 0;
  int exit_code_ = 0;
  int first_failure_ = 0;  // counts when every node of a job that means to survive has died
  bool any_success_ = false;
};

}  // namespace amrun
