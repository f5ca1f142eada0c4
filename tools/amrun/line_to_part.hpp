// The head's end of the way to a part, whose own end is Line: the process that the head has started, which is the part itself on this
// host and an agent elsewhere, two pipes, and what the head knows of the part.
#pragma once

#include <sys/types.h>

#include <am/types.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "amrun/agent.hpp"
#include "amrun/frames.hpp"
#include "amrun/hosts.hpp"
#include "host/descriptor.hpp"

namespace amrun {

class LineToPart {
 public:
  LineToPart(const HostShare& host, std::uint32_t number, std::vector<am::NodeId> nodes, const Child& child);

  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const std::vector<am::NodeId>& nodes() const { return nodes_; }
  // Who runs the part, for people: "its agent".
  [[nodiscard]] std::string agent() const { return is_here_ ? "amrun" : "its agent"; }

  // For poll, to read and to write; -1: the line is over, or nothing is to be sent.
  [[nodiscard]] int readable_fd() const { return is_over_ ? -1 : out_.get(); }
  [[nodiscard]] int writable_fd() const { return to_send_.empty() ? -1 : in_.get(); }

  // Never waits: keeps what the pipe has no room for. Does nothing once the line is over.
  void send(Kind kind, std::string_view body);
  // Writes of what was kept as much as the pipe takes.
  void write_some();
  // Reads once, by way of the caller's buffer. Waits if there is nothing to read, so call it after poll. False at the line's end.
  [[nodiscard]] bool read_some(std::span<char> buffer);
  // The next frame of what was read. None before the greeting, and none once the line is over. Throws Fault.
  std::optional<Frame> next();
  // Whether there is something to read, be it the end.
  [[nodiscard]] bool is_readable() const;

  // The part has said that it runs.
  [[nodiscard]] bool has_greeted() const { return has_greeted_; }
  // The first line of what came instead, for a message.
  [[nodiscard]] std::string first_line() const { return reader_.first_line(); }

  // Ends the line. A part that still runs sees its end, and takes the head for gone.
  void close();
  [[nodiscard]] bool is_over() const { return is_over_; }

  // Waits so long at most for the process to end. Its status as from waitpid, once.
  std::optional<int> wait_for_process(std::uint64_t patience_ns);
  // Whether the process was stopped because it is not in the terminal's foreground. Tells of each stop once.
  [[nodiscard]] bool takes_stop_at_terminal();
  // Whether the process has ended and was no success, though what it started may still hold the line. Leaves its status to be waited for.
  [[nodiscard]] bool process_has_failed() const;
  // After close(): waits so long at most for the process to end, then kills its process group.
  void end_process(std::uint64_t patience_ns);

  // What the part has told.
  std::optional<std::string> facts;
  std::optional<Ended> ended;
  // The head's note: the process has failed, and from then on the line counts as ended.
  std::uint64_t dead_at_ns = UINT64_MAX;

 private:
  std::string host_;
  bool is_here_;
  std::uint32_t number_;
  std::vector<am::NodeId> nodes_;
  pid_t pid_;  // 0: has ended
  am::host::Descriptor in_;
  am::host::Descriptor out_;
  FrameReader reader_;
  std::string to_send_;
  bool has_greeted_ = false;
  bool is_over_ = false;
};

}  // namespace amrun
