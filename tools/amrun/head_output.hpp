// What a job on several hosts writes: what its nodes have written, which their parts send, and amrun's own lines, both to the head's own
// standard output and error. The head never waits for who reads these; the parts are told how much has been written.
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
#include "amrun/outlet.hpp"
#include "amrun/part_line.hpp"

namespace amrun {

class HeadOutput {
 public:
  // `parts` outlive this.
  explicit HeadOutput(std::vector<PartLine>& parts) : parts_(parts) {}

  void print(const PartLine& part, Stream stream, std::string_view text);
  // amrun's own lines: each once, as several hosts may have the same to say. (Not so reports, of many lines.)
  void say(const std::string& line);

  // To poll for writing; -1: nothing is to be written.
  [[nodiscard]] int to_write(Stream stream) const;
  void write_some(Stream stream);
  [[nodiscard]] bool is_written() const;
  // When something was written last; 0: never.
  [[nodiscard]] std::uint64_t written_at_ns() const { return written_at_ns_; }
  // Nobody takes what goes there any more.
  [[nodiscard]] bool is_closed(Stream stream) const { return of(stream).error != 0; }
  // Gives up what has not been written, and what comes.
  void close();

 private:
  [[nodiscard]] Outlet& of(Stream stream) { return outlets_[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] const Outlet& of(Stream stream) const { return outlets_[static_cast<std::size_t>(stream)]; }
  void close(Stream stream, int error);

  std::vector<PartLine>& parts_;
  std::array<Outlet, 2> outlets_{Outlet(STDOUT_FILENO), Outlet(STDERR_FILENO)};  // by Stream
  std::set<std::string> said_;
  std::uint64_t written_at_ns_ = 0;
};

}  // namespace amrun
