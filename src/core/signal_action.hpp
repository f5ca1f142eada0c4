// What a program does about a signal that libam is asked to use.
#pragma once

#include <csignal>

namespace am::core {

/// A function of the program: neither the default nor SIG_IGN.
inline bool is_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/// The default is to do nothing.
inline bool is_ignored_by_default(int signal) noexcept {
  return signal == SIGURG || signal == SIGCHLD || signal == SIGWINCH || signal == SIGCONT;
}

}  // namespace am::core
