#include "results/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace results {

Progress::Progress(std::string what, int steps)
    : what_(std::move(what)), steps_(steps), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_ && done_ > 0) std::fputs("\r\033[K", stderr);
}

void Progress::step() {
  ++done_;
  if (shown_) std::fprintf(stderr, "\r\033[K%s: %d of %d", what_.c_str(), done_, steps_);
}

}  // namespace results
