// A thread of the library beside the program's: no signal of the program is delivered to it, it has a name, and a forked
// child, which does not have it, does not wait for it.
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <functional>
#include <string>

namespace am::core {

class OwnThread {
 public:
  /// Runs `main`. At most 15 characters of the name are seen. Throws am::Error when the system gives no thread; `instead`
  /// says what to do without it.
  OwnThread(const std::string& name, std::function<void()> main, const std::string& instead);
  /// Waits until `main` has returned; asking it to is the caller's matter. On that thread itself (a handler that calls
  /// std::exit) it does not wait.
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  [[nodiscard]] bool is_in_this_process() const noexcept;
  /// How many there are. Any thread.
  [[nodiscard]] static long in_this_process() noexcept;

 private:
  static void* begin(void* self);

  const std::function<void()> main_;
  const pid_t pid_;
  pthread_t thread_{};
};

}  // namespace am::core
