#include "core/modes/shared_signal.hpp"

namespace am::core {

namespace {

/// A function of the program: neither the default nor SIG_IGN.
bool is_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/// The default is to do nothing.
bool is_ignored_by_default(int signal) noexcept {
  return signal == SIGURG || signal == SIGCHLD || signal == SIGWINCH || signal == SIGCONT;
}

}  // namespace

SharedSignal::Answer SharedSignal::take(int signal) noexcept {
  if (users_ != 0 && signal != signal_) return Answer::another_is_taken;
  if (users_ == 0) {
    struct sigaction ours {};
    ours.sa_sigaction = ours_;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    if (sigaction(signal, nullptr, &before_) != 0) return Answer::cannot_be_handled;
    if (is_ours(before_)) before_ = {};  // left there by give_back: below it was the default
    if (is_handler(before_)) return Answer::program_handles_it;
    if (sigaction(signal, &ours, nullptr) != 0) return Answer::cannot_be_handled;
    signal_ = signal;
  }
  ++users_;
  return Answer::taken;
}

/// Who sends it may be about to send one more. Where the default would end the process our handler stays, and does nothing.
void SharedSignal::give_back() noexcept {
  if (--users_ != 0) return;
  struct sigaction now {};
  if (sigaction(signal_, nullptr, &now) != 0 || !is_ours(now)) return;  // the program has taken it meanwhile
  if (before_.sa_handler == SIG_IGN || is_ignored_by_default(signal_)) sigaction(signal_, &before_, nullptr);
}

}  // namespace am::core
