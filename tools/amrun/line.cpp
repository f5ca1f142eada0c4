#include "amrun/line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

#include "amrun/fault.hpp"
#include "amrun/say.hpp"

namespace amrun {
namespace {

// How much of the text to send: all, or whole lines, so that nothing of other hosts comes in between; a line that is longer than
// there can be room is cut. 0: there is no room for that now.
std::size_t next_piece(std::string_view text, std::size_t room) {
  if (text.size() <= room) return text.size();
  const std::size_t end = room == 0 ? std::string_view::npos : text.rfind('\n', room - 1);
  if (end != std::string_view::npos) return end + 1;
  return room == Line::window_bytes ? room : 0;
}

// False when nobody takes it any more.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

}  // namespace

Line::Line(int in, int out)
    : in_(in), out_(out), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), buffer_(65536) {
  if (!wake_) throw Fault(failed, "cannot make an eventfd: " + system_text(errno));
}

Line::~Line() { stop(); }

void Line::send(Kind kind, std::string_view body) {
  const std::string frame = encode(kind, body);
  const std::lock_guard lock(sending_);
  static_cast<void>(write_all(out_, frame));  // when the head is gone our input says so, too
}

void Line::greet() {
  const std::lock_guard lock(sending_);
  static_cast<void>(write_all(out_, part_greeting));
}

int Line::pass(Stream stream, std::string_view text) {
  Room& room = rooms_[static_cast<std::size_t>(stream)];
  while (!text.empty()) {
    std::unique_lock lock(room_mutex_);
    std::size_t bytes = 0;
    room_changed_.wait(lock, [&] { return room.closed != 0 || (bytes = next_piece(text, room.bytes)) > 0; });
    if (room.closed != 0) return room.closed;
    room.bytes -= bytes;
    lock.unlock();
    send(stream == Stream::out ? Kind::out : Kind::err, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return 0;
}

std::optional<Frame> Line::receive(Kind kind) {
  for (;;) {
    while (auto frame = reader_.next()) {
      if (frame->kind == kind) return frame;
      set_aside_.push_back(*std::move(frame));
    }
    if (!read_more()) return std::nullopt;
  }
}

void Line::run(const am::core::Placement& placement, std::shared_ptr<am::host::Memory> memory,
               am::host::Descriptor input, std::function<void()> notify) {
  placement_ = &placement;
  memory_ = std::move(memory);
  input_ = std::move(input);
  if (input_) fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  notify_ = std::move(notify);
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error& error) {
    throw Fault(failed, std::string("cannot start a thread: ") + error.code().message());
  }
}

void Line::stop() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_release);  // pairs with the load in loop
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

Line::Wishes Line::take_wishes() {
  const std::lock_guard lock(wishes_mutex_);
  return std::exchange(wishes_, {});
}

bool Line::read_more() {
  ssize_t got = -1;
  do {
    got = read(in_, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  reader_.feed({buffer_.data(), static_cast<std::size_t>(got)});
  return true;
}

void Line::loop() {
  bool connected = true;
  while (!stop_.load(std::memory_order_acquire)) {
    try {
      take_all();
    } catch (const std::exception& error) {
      say_directly(error.what());
      reader_ = {};
      connected = false;
      give_up();
    }
    std::array<pollfd, 3> polled{{{wake_.get(), POLLIN, 0},
                                  {connected ? in_ : -1, POLLIN, 0},
                                  {input_pending_.empty() ? -1 : input_.get(), POLLOUT, 0}}};
    if (poll(polled.data(), polled.size(), tell_facts()) <= 0) continue;
    if (polled[2].revents != 0) write_input();
    if (polled[1].revents == 0) continue;
    connected = read_more();
    if (!connected) give_up();
  }
}

void Line::take_all() {
  for (; !set_aside_.empty(); set_aside_.pop_front()) take(set_aside_.front());
  while (const auto frame = reader_.next()) take(*frame);
}

int Line::tell_facts() {
  constexpr int longest_ms = 16;
  const am::host::Board& board = memory_->board();
  if (told_facts_ || placement_->hosts.size() == 1) return -1;
  if (board.job().joined.load(std::memory_order_acquire) < placement_->here().size())  // pairs with Joining
    return std::exchange(nap_ms_, std::min(2 * nap_ms_, longest_ms));
  told_facts_ = true;
  send(Kind::text, am::core::facts_of_host(board, *placement_));
  return -1;
}

void Line::take(const Frame& frame) {
  BodyReader body(frame.body);
  switch (frame.kind) {
    case Kind::texts: {
      std::vector<std::string> all;
      for (std::uint64_t left = body.number(); left > 0; --left) all.push_back(body.text());
      return am::core::take_facts(memory_->board(), *placement_, all);
    }
    case Kind::pass_on:
      kill(getpid(), static_cast<int>(body.number()));
      return;
    case Kind::end:
      return wish([](Wishes& wishes) { wishes.end = true; });
    case Kind::lost: {
      const std::vector<am::NodeId>& nodes = placement_->hosts.at(body.number());
      return wish([&](Wishes& wishes) { wishes.lost.insert(wishes.lost.end(), nodes.begin(), nodes.end()); });
    }
    case Kind::input:
      input_pending_ += frame.body;
      input_owed_ = true;
      return write_input();
    case Kind::input_end:
      input_ends_ = true;
      return write_input();
    case Kind::written: {
      const std::uint64_t stream = body.number();
      const std::uint64_t bytes = body.number();
      return change_room(stream, [&](Room& room) { room.bytes += bytes; });
    }
    case Kind::closed: {
      const std::uint64_t stream = body.number();
      const int error = static_cast<int>(body.number());
      return change_room(stream, [&](Room& room) { room.closed = error; });
    }
    default:
      return;
  }
}

// To node 0, as far as it takes it; who does not read its input any more is sent no more.
void Line::write_input() {
  while (!input_pending_.empty() && input_) {
    const ssize_t written = write(input_.get(), input_pending_.data(), input_pending_.size());
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0 && errno != EINTR) input_ = {};
    if (written > 0) input_pending_.erase(0, static_cast<std::size_t>(written));
  }
  input_pending_.clear();
  if (std::exchange(input_owed_, false)) send(Kind::taken, {});
  if (input_ends_) input_ = {};
}

void Line::give_up() {
  for (std::uint64_t stream = 0; stream < rooms_.size(); ++stream)
    change_room(stream, [](Room& room) { room.closed = EPIPE; });
  wish([](Wishes& wishes) { wishes.abandon = true; });
}

template <class F>
void Line::wish(F change) {
  {
    const std::lock_guard lock(wishes_mutex_);
    change(wishes_);
  }
  notify_();
}

template <class F>
void Line::change_room(std::uint64_t stream, F change) {
  {
    const std::lock_guard lock(room_mutex_);
    change(rooms_.at(stream));
  }
  room_changed_.notify_all();
}

}  // namespace amrun
