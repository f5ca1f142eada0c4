#include "amrun/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "amrun/fault.hpp"

namespace amrun {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} << 10;  // a whole pipe
constexpr std::size_t write_bytes = std::size_t{256} << 10;

void require(bool done, const char* what) {
  if (!done) {
    throw Fault(failed, std::string("cannot ") + what + " for -l: " + system_text(errno));
  }
}

bool watch(int poller, int fd, void* whose) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = whose;
  return epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

struct Output::Source {
  int fd;
  std::optional<Labels> labels;
};

Output::Output(Sink sink)
    : sink_(std::move(sink)),
      poller_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      buffer_(read_bytes) {
  require(poller_ >= 0 && wake_ >= 0 && watch(poller_, wake_, nullptr), "watch output");
}

Output::~Output() {
  finish();
  close(poller_);
  close(wake_);
}

int Output::open_pipe(const std::string& label) {
  int ends[2];
  require(pipe2(ends, O_CLOEXEC) == 0, "make pipes");
  // Our end alone: nodes shall wait when the pipe is full.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  sources_.push_back(std::make_unique<Source>(Source{ends[0], std::nullopt}));
  if (!label.empty()) sources_.back()->labels.emplace(label);
  require(watch(poller_, ends[0], sources_.back().get()), "watch output");
  return ends[1];
}

void Output::run() {
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error& error) {
    throw Fault(failed, std::string("cannot start a thread for -l: ") + error.code().message());
  }
}

void Output::say(const std::string& line) {
  {
    const std::lock_guard lock(said_mutex_);
    said_ += line;
  }
  eventfd_write(wake_, 1);
}

int Output::finish() {
  if (thread_.joinable()) {
    finishing_.store(true, std::memory_order_release);  // pairs with the load in loop
    eventfd_write(wake_, 1);
    thread_.join();
  }
  close_sources();
  return error_;
}

void Output::loop() {
  std::array<epoll_event, 64> events;
  bool finishing = false;
  while (!finishing || !sources_.empty()) {
    // Read before the pipes are: whatever a node wrote before it ended is then in its pipe. When no node is
    // left to write, a pipe that has nothing to read is done, even if somebody holds its other end.
    finishing = finishing_.load(std::memory_order_acquire);
    const int count = epoll_wait(poller_, events.data(), events.size(), finishing ? 0 : -1);
    if (count <= 0 && finishing) close_sources();
    bool woken = false;
    for (int i = 0; i < count; ++i) {
      auto* source = static_cast<Source*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (source == nullptr) {
        woken = true;
      } else if (!read(*source)) {
        close_source(*source);
        std::erase_if(sources_, [&](const auto& other) { return other.get() == source; });
      }
      if (pending_.size() >= write_bytes) write_out();
      if (error_ != 0) break;  // the sources of the other events are gone
    }
    if (woken) take_said();
    write_out();
  }
  take_said();
  write_out();
}

// False at the end of the stream.
bool Output::read(Source& source) {
  const ssize_t got = ::read(source.fd, buffer_.data(), buffer_.size());
  if (got > 0) {
    const std::string_view text(buffer_.data(), static_cast<std::size_t>(got));
    if (source.labels) {
      source.labels->feed(text, pending_);
    } else {
      pending_ += text;
    }
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (source.labels) source.labels->finish(pending_);
  return false;
}

void Output::take_said() {
  eventfd_t count = 0;
  eventfd_read(wake_, &count);
  const std::lock_guard lock(said_mutex_);
  pending_ += said_;
  said_.clear();
}

void Output::write_out() {
  if (!pending_.empty() && error_ == 0) error_ = sink_(pending_);
  // Nobody takes it any more: nodes learn of it as from a pipe of their own, by SIGPIPE.
  if (error_ != 0) close_sources();
  pending_.clear();
}

void Output::close_source(const Source& source) const {
  // To close it is not enough: nodes that have not come to exec yet hold copies, and epoll would go on to
  // report it.
  epoll_ctl(poller_, EPOLL_CTL_DEL, source.fd, nullptr);
  close(source.fd);
}

void Output::close_sources() {
  for (const auto& source : sources_) {
    if (source->labels) source->labels->finish(pending_);
    close_source(*source);
  }
  sources_.clear();
}

Output::Sink write_to(int fd) {
  return [fd](std::string_view rest) {
    while (!rest.empty()) {
      const ssize_t written = ::write(fd, rest.data(), rest.size());
      if (written >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EAGAIN) {  // somebody else made it non-blocking
        pollfd ready{fd, POLLOUT, 0};
        poll(&ready, 1, -1);
      } else if (errno != EINTR) {
        return errno;
      }
    }
    return 0;
  };
}

}  // namespace amrun
