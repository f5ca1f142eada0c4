#include "amrun/head_input.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace amrun {

void HeadInput::end() {
  state_ = State::ended;
  parts_.front().send(Kind::input_end, {});
}

bool HeadInput::is_wanted() {
  if (parts_.front().is_over()) state_ = State::ended;
  // A read from the terminal by a job in the background would stop us.
  return state_ == State::awaited && (isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) == getpgrp());
}

bool HeadInput::depends_on_foreground() const {
  return state_ == State::awaited && isatty(STDIN_FILENO) != 0;
}

void HeadInput::read_some(std::span<char> buffer) {
  const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return end();
  state_ = State::under_way;
  parts_.front().send(Kind::input, {buffer.data(), static_cast<std::size_t>(got)});
}

void HeadInput::taken() {
  if (state_ == State::under_way) state_ = State::awaited;
}

}  // namespace amrun
