// What a job on several hosts writes. What a node writes comes by its part, and goes to the same stream of the head; amrun's own lines go to
// standard error. The head never waits for who reads the two. It tells the parts how much has been written.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "amrun/frames.hpp"
#include "amrun/line_to_part.hpp"
#include "amrun/outlet.hpp"

namespace amrun {

class HeadOutput {
 public:
  // `parts` outlive this; a part's number is its place there.
  explicit HeadOutput(std::vector<LineToPart>& parts) : parts_(parts) {}

  // Keeps `text`, which a node of that part wrote, until write_some. Drops it when the stream is closed.
  void print(const LineToPart& part, Stream stream, std::string_view text);
  // amrun's own lines: each once, as several hosts may have the same to say. (Not so reports, of many lines.)
  void say(const std::string& line);

  // For poll, to write; -1: nothing is to be written.
  [[nodiscard]] int writable_fd(Stream stream) const;
  // Writes as much as is taken at once. Call it after poll. When nobody takes the stream any more the parts are told.
  void write_some(Stream stream);
  [[nodiscard]] bool is_written() const;
  // When something was written last, on the monotonic clock; 0: never.
  [[nodiscard]] std::uint64_t written_at_ns() const { return written_at_ns_; }
  // Nobody takes what goes there any more.
  [[nodiscard]] bool is_closed(Stream stream) const { return of(stream).error != 0; }
  // Gives up what has not been written, and what comes. The parts are told, so that their nodes' writes fail (EPIPE).
  void close();

 private:
  [[nodiscard]] Outlet& of(Stream stream) { return outlets_[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] const Outlet& of(Stream stream) const { return outlets_[static_cast<std::size_t>(stream)]; }
  void close(Stream stream, int error);

  std::vector<LineToPart>& parts_;
  std::array<Outlet, 2> outlets_{Outlet(STDOUT_FILENO), Outlet(STDERR_FILENO)};  // by Stream
  std::set<std::string> said_;
  std::uint64_t written_at_ns_ = 0;
};

}  // namespace amrun
