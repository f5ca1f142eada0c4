#include "amrun/line_to_part.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <utility>

#include "host/clock.hpp"

namespace amrun {

using am::host::Descriptor;
using am::host::second_ns;

LineToPart::LineToPart(const HostShare& host, std::uint32_t number, std::vector<am::NodeId> nodes,
                       const Child& child)
    : host_(host.name),
      is_here_(host.is_here),
      number_(number),
      nodes_(std::move(nodes)),
      pid_(child.pid),
      in_(child.in),
      out_(child.out) {
  fcntl(in_.get(), F_SETFL, O_NONBLOCK);
}

void LineToPart::send(Kind kind, std::string_view body) {
  if (is_over_) return;
  to_send_ += encode(kind, body);
  write_some();
}

void LineToPart::write_some() {
  while (!to_send_.empty()) {
    const ssize_t written = write(in_.get(), to_send_.data(), to_send_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) return to_send_.clear();  // the end of its line says so, too
    to_send_.erase(0, static_cast<std::size_t>(written));
  }
}

bool LineToPart::read_some(std::span<char> buffer) {
  const ssize_t got = read(out_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got <= 0) return false;
  reader_.feed({buffer.data(), static_cast<std::size_t>(got)});
  return true;
}

std::optional<Frame> LineToPart::next() {
  if (!has_greeted_) has_greeted_ = reader_.skip_greeting();
  if (!has_greeted_ || is_over_) return std::nullopt;
  return reader_.next();
}

bool LineToPart::is_readable() const {
  pollfd polled{out_.get(), POLLIN, 0};
  return poll(&polled, 1, 0) > 0;
}

void LineToPart::close() {
  is_over_ = true;
  to_send_.clear();
  in_ = Descriptor();
  out_ = Descriptor();
}

std::optional<int> LineToPart::wait_for_process(std::uint64_t patience_ns) {
  constexpr timespec moment{.tv_sec = 0, .tv_nsec = 5'000'000};
  const std::uint64_t until = am::host::monotonic_ns() + patience_ns;
  for (int status = 0; pid_ > 0; nanosleep(&moment, nullptr)) {
    if (waitpid(pid_, &status, WNOHANG) != 0) {
      pid_ = 0;
      return status;
    }
    if (am::host::monotonic_ns() >= until) break;
  }
  return std::nullopt;
}

bool LineToPart::takes_stop_at_terminal() {
  siginfo_t info{};
  if (pid_ <= 0 || waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) != 0) return false;
  return info.si_pid != 0 && (info.si_status == SIGTTIN || info.si_status == SIGTTOU);
}

bool LineToPart::process_has_failed() const {
  siginfo_t info{};
  if (pid_ <= 0 || waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return false;
  return info.si_pid != 0 && info.si_status != 0;
}

void LineToPart::end_process(std::uint64_t patience_ns) {
  if (pid_ <= 0 || wait_for_process(patience_ns)) return;
  kill(-pid_, SIGKILL);
  wait_for_process(second_ns);
}

}  // namespace amrun
