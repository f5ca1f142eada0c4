// The head's end of the way to a part (its other end is Line): the process that the head has started for it, which is the part itself on
// this host and an agent elsewhere, two pipes, and what is known of the part. Nothing here waits but end_process().
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

class PartLine {
 public:
  PartLine(const HostShare& host, std::uint32_t number, std::vector<am::NodeId> nodes, const Child& child);

  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const std::vector<am::NodeId>& nodes() const { return nodes_; }
  // Who runs the part, for people: "its agent".
  [[nodiscard]] std::string agent() const { return is_here_ ? "amrun" : "its agent"; }

  // To poll: for reading, and for writing while something is to be sent; -1: not.
  [[nodiscard]] int to_read() const { return is_over_ ? -1 : out_.get(); }
  [[nodiscard]] int to_write() const { return to_send_.empty() ? -1 : in_.get(); }

  // To one that is over: nothing.
  void send(Kind kind, std::string_view body);
  // What is to be sent, as far as the pipe has room for it.
  void write_some();
  // False at the line's end. `buffer` is the caller's, for what is read at once.
  [[nodiscard]] bool read_some(std::span<char> buffer);
  // Of what was read. None before the greeting, and none when the line is over. Throws Fault.
  std::optional<Frame> next();
  // Whether there is something to read, its end too.
  [[nodiscard]] bool is_readable() const;

  // The part has said that it runs.
  [[nodiscard]] bool has_greeted() const { return has_greeted_; }
  // What came instead, for a message: the first line of it.
  [[nodiscard]] std::string first_line() const { return reader_.first_line(); }

  // Ends the line: nothing comes of it or goes by it any more. Whoever runs there learns so that the head is gone.
  void close();
  [[nodiscard]] bool is_over() const { return is_over_; }

  // The process: its status as from waitpid when it ends within that time.
  std::optional<int> wait_for_process(std::uint64_t patience_ns);
  // It was stopped since it is not in the terminal's foreground.
  [[nodiscard]] bool asks_at_terminal() const;
  // It has ended and was no success, though what it started may still hold the line.
  [[nodiscard]] bool has_failed() const;
  // Behind close(): waits a moment for its end, and kills it.
  void end_process();

  // As the part has told.
  std::optional<std::string> facts{};
  std::optional<Ended> ended{};
  // Its process has failed, and its line counts as ended then.
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
