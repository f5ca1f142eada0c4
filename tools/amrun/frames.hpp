// What the two halves of an amrun across hosts say to each other: the head, which the user started, and a part on each host, which
// the head has started there through an agent (ssh), over the agent's standard input and output. Bytes in, values out; no
// descriptor, no process.
//
// A part says first who it is, by `part_greeting`: what a shell's start-up files print before that is skipped. Then both send
// frames: kind, length, body. Each trusts the other, as it has the user's rights there anyway; but what comes may be cut short, or
// be another version's.
#pragma once

#include <am/types.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "amrun/options.hpp"
#include "core/job/several_hosts.hpp"

namespace amrun {

inline constexpr std::string_view part_name = "libam: a part of amrun, protocol ";
inline constexpr std::string_view part_greeting = "libam: a part of amrun, protocol 4\n";

enum class Kind : std::uint8_t {
  // to a part
  order = 1,  // Order: the first frame
  texts,      // one of each host, by host: what these have sent as `text`
  pass_on,    // a signal, by its number
  end,        // the job has failed elsewhere
  lost,       // a host is gone, by its number
  input,      // for node 0's standard input; the next one comes when this is `taken`
  input_end,  //
  written,    // so many bytes of `out` or `err` (Stream) have been written
  closed,     // nobody takes what goes to that Stream any more: Stream, errno
  // to the head
  text,     // the facts of this host's nodes, when all have joined
  taken,    //
  out,      // what nodes write
  err,      //
  say,      // amrun's own words: Said
  failure,  // the job is to end, with that exit code: Failed
  ended,    // the last frame: Ended
};

enum class Stream : std::uint8_t { out, err };

struct Frame {
  Kind kind;
  std::string body;
};

std::string encode(Kind kind, std::string_view body);

// Cuts a stream of bytes into frames.
class FrameReader {
 public:
  static constexpr std::size_t longest = std::size_t{256} << 20;

  void feed(std::string_view bytes) { bytes_ += bytes; }
  // The next one that is whole. Throws Fault where the bytes are no frame.
  std::optional<Frame> next();
  // Skips what comes before the greeting, and that; false while it has not come. For the head, first. Throws Fault where it is that
  // of another protocol, and where so much else comes that none will.
  bool skip_greeting();
  // What has come and is no frame, for a message: the first line of it.
  [[nodiscard]] std::string first_line() const { return bytes_.substr(0, bytes_.find('\n')); }

 private:
  std::string bytes_;
};

// Numbers and texts in a body, one behind the other: to write it,
class Body {
 public:
  Body& put(std::uint64_t number);
  Body& put(std::string_view text);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// and to read it: each takes the next one, and throws Fault where there is none. What it reads outlives it.
class BodyReader {
 public:
  explicit BodyReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number();
  std::string text();

 private:
  std::string_view bytes_;
};

// What a part is to start.
struct Order {
  std::string host;                      // its name, as the user has it
  am::core::Placement placement;         // each host has nodes, which follow those of the one before
  std::string job_name;                  // 16 bytes
  std::string job_key;                   // 32 bytes
  std::vector<std::string> folders;      // to start in: the first that is there
  std::vector<std::string> program;      // name and arguments
  std::vector<std::string> environment;  // NAME=value, in addition to what the host has
  Bind bind = Bind::automatic;
  bool report_bindings = false;
  bool label = false;
  std::uint64_t watchdog_ns = 0;

  [[nodiscard]] std::string encode() const;
  static Order decode(std::string_view bytes);
};

// A line for the user. One that follows from what another host has failed of is not worth saying, when that host says so itself.
struct Said {
  bool follows = false;
  std::string line;
};
struct Failed {
  bool follows = false;
  int exit_code = 0;
};
// How the nodes of a host have ended.
struct Ended {
  int exit_code = 0;
  int first_failure = 0;         // of a job that went on without the node
  bool any_success = false;      // a node left the job in good order
  bool nobody_joined = false;    // the programs ended well, and are none of libam's
  int by_signal = 0;             // that the user sent
  std::vector<am::NodeId> dead;  // nodes of other hosts that have died, as far as this one knows
};

std::string encode(const Said& said);
std::string encode(const Failed& heard);
std::string encode(const Ended& ended);
Said decode_said(std::string_view bytes);
Failed decode_failed(std::string_view bytes);
Ended decode_ended(std::string_view bytes);

}  // namespace amrun
