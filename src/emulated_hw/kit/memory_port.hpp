// The way to a memory that a processor and engines share: one has it at a time, for the cycles of its access; who asks has it in turns.
#pragma once

#include <array>
#include <cstdint>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/cycle.hpp"

namespace am::kit {

class MemoryPort {
 public:
  static constexpr unsigned most_users = 64;

  /// One access of so many cycles. The user asks for no other before it has been granted.
  void ask(unsigned user, unsigned cycles) noexcept {
    asking_ |= request(user);
    cycles_[user] = static_cast<std::uint8_t>(cycles);
  }
  [[nodiscard]] bool is_asked_by(unsigned user) const noexcept { return has(asking_, user); }
  [[nodiscard]] bool is_idle() const noexcept { return asking_ == 0; }

  /// One cycle. Calls over(user) where an access ends with it.
  template <class F>
  void step(F over) {
    if (asking_ == 0) return;
    if (left_ == 0) {
      user_ = turns_.pick(asking_);
      turns_.had_its_turn(user_);
      left_ = cycles_[user_];
    }
    ++busy_;
    for_each(asking_ & ~request(user_), [this](unsigned waits) { ++waited_[waits]; });
    if (--left_ != 0) return;
    asking_ &= ~request(user_);
    over(user_);
  }

  /// Cycles in which it was in use, and in which a user waited for others.
  [[nodiscard]] std::uint64_t busy() const noexcept { return busy_; }
  [[nodiscard]] std::uint64_t waited(unsigned user) const noexcept { return waited_[user]; }

 private:
  Requests asking_ = 0;
  std::array<std::uint8_t, most_users> cycles_{};
  std::array<std::uint64_t, most_users> waited_{};
  RoundRobin turns_{};
  unsigned user_ = 0;  // that has it
  unsigned left_ = 0;  // cycles of its access
  std::uint64_t busy_ = 0;
};

}  // namespace am::kit
