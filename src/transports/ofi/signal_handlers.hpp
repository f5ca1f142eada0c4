// libfabric's providers, and the libraries that they bring along, set handlers for signals that would end the program (PSM when it is
// loaded, shm to remove its files). A program's signals are its own: these are taken back. (What shm leaves behind then, when a node is
// killed, its next start removes.)
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <mutex>

namespace am::ofi {

/// What this process does on such signals, it does again when this ends. One at a time, whatever thread.
class SignalHandlers {
 public:
  SignalHandlers() : alone_(mutex()) {
    for (std::size_t i = 0; i < signals.size(); ++i)
      is_known_[i] = sigaction(signals[i], nullptr, &actions_[i]) == 0;
  }
  ~SignalHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (is_known_[i]) static_cast<void>(sigaction(signals[i], &actions_[i], nullptr));
    }
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  static constexpr std::array signals = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE, SIGABRT,
                                         SIGINT,  SIGTERM, SIGQUIT, SIGHUP};
  static std::mutex& mutex() {
    static std::mutex the_one;
    return the_one;
  }

  const std::lock_guard<std::mutex> alone_;
  std::array<struct sigaction, signals.size()> actions_{};
  std::array<bool, signals.size()> is_known_{};
};

}  // namespace am::ofi
