#include "amrun/head_output.hpp"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "amrun/say.hpp"
#include "host/clock.hpp"

namespace amrun {

void HeadOutput::print(const LineToPart& part, Stream stream, std::string_view text) {
  Outlet& outlet = of(stream);
  if (outlet.error != 0 || text.empty()) return;
  outlet.pending += text;
  outlet.owed[part.number()] += text.size();
}

void HeadOutput::say(const std::string& line) {
  Outlet& outlet = of(Stream::err);
  const bool is_report = line.find('\n') != std::string::npos;
  if (outlet.error == 0 && (is_report || said_.insert(line).second)) outlet.pending += whole_line(line);
}

int HeadOutput::writable_fd(Stream stream) const {
  return of(stream).pending.empty() ? -1 : of(stream).descriptor();
}

void HeadOutput::write_some(Stream stream) {
  Outlet& outlet = of(stream);
  const ssize_t written = outlet.write_some(outlet.pending);
  if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (written < 0) {
    const int error = errno;
    close(stream, error);
    if (stream == Stream::out) say("cannot write standard output: " + std::string(std::strerror(error)));
    return;
  }
  outlet.pending.erase(0, static_cast<std::size_t>(written));
  written_at_ns_ = am::host::monotonic_ns();
  if (!outlet.pending.empty()) return;
  for (const auto& [part, bytes] : std::exchange(outlet.owed, {}))
    parts_[part].send(Kind::written, Body().put(static_cast<std::uint64_t>(stream)).put(bytes).bytes());
}

bool HeadOutput::is_written() const {
  return std::ranges::all_of(outlets_, [](const Outlet& outlet) { return outlet.pending.empty(); });
}

void HeadOutput::close() {
  for (const Stream stream : {Stream::out, Stream::err}) close(stream, EPIPE);
}

void HeadOutput::close(Stream stream, int error) {
  Outlet& outlet = of(stream);
  outlet.error = error;
  outlet.pending.clear();
  for (LineToPart& part : parts_)
    part.send(Kind::closed,
              Body().put(static_cast<std::uint64_t>(stream)).put(static_cast<std::uint64_t>(error)).bytes());
}

}  // namespace amrun
