// What a program does about a signal that libam is asked to use.
#pragma once

#include <csignal>

namespace am::core {

/// A function of the program: neither the default nor SIG_IGN.
inline bool is_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

}  // namespace am::core
