// What runs on an emulated node: a coroutine that says how long each of its steps takes. Its machine resumes it when that time is
// over; in between it takes none.
//
//   Program ping(Processor& cpu) {
//     co_await cpu.cycles(3);
//     co_await send_all(cpu);       // another program, as a function
//   }
//
// Contract: what a program refers to lives as long as the program, its parameters' referents and its lambda's captures included. What it
// throws comes out of resume(), through the programs that wait for it.
//
// In a function without variables of its own no co_await stands in the condition of an if or a loop: GCC 12.2 lays out its frame wrongly,
// and it never begins. Lambdas are not affected.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace am::kit {

class Program {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    std::coroutine_handle<> waits_for_it = std::noop_coroutine();
    std::exception_ptr thrown;

    Program get_return_object() noexcept { return Program(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct GoOn {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle ended) noexcept { return ended.promise().waits_for_it; }
        void await_resume() noexcept {}
      };
      return GoOn{};
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { thrown = std::current_exception(); }
  };

  Program(Program&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Program(const Program&) = delete;
  Program& operator=(Program&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (handle_) handle_.destroy();
  }

  /// Where it begins. Whoever runs it keeps the handle of the innermost one that waits, which its awaitables are given.
  [[nodiscard]] std::coroutine_handle<> begin() const noexcept { return handle_; }
  /// Whether it has ended. Throws what it threw.
  [[nodiscard]] bool has_ended() const {
    if (!handle_.done()) return false;
    if (handle_.promise().thrown) std::rethrow_exception(handle_.promise().thrown);
    return true;
  }

  /// Runs it to its end, as a function of another program.
  auto operator co_await() const noexcept {
    struct Call {
      Handle called;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        called.promise().waits_for_it = caller;
        return called;
      }
      void await_resume() {
        if (called.promise().thrown) std::rethrow_exception(called.promise().thrown);
      }
    };
    return Call{handle_};
  }

 private:
  explicit Program(Handle handle) noexcept : handle_(handle) {}
  Handle handle_;
};

}  // namespace am::kit
