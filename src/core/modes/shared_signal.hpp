// A signal that libam handles as long as somebody in this process wants it: taken for the first, given back after the last.
//
// Not thread-safe: its owner has a lock.
#pragma once

#include <csignal>

namespace am::core {

class SharedSignal {
 public:
  using Handler = void (*)(int signal, siginfo_t* info, void* context);
  enum class Answer { taken, another_is_taken, cannot_be_handled, program_handles_it };

  /// Handled by `ours`, with SA_RESTART.
  explicit SharedSignal(Handler ours) noexcept : ours_(ours) {}

  /// All that are `taken` are to be given back.
  [[nodiscard]] Answer take(int signal) noexcept;
  void give_back() noexcept;
  /// The one that is taken.
  [[nodiscard]] int signal() const noexcept { return signal_; }

 private:
  [[nodiscard]] bool is_ours(const struct sigaction& action) const noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == ours_;
  }

  const Handler ours_;
  int users_ = 0;
  int signal_ = 0;
  struct sigaction before_ {};
};

}  // namespace am::core
