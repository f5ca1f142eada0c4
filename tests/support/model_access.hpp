// What a thread of a model (explorer.hpp) may do in one step: accesses to the shared words, fences, sleep, choices.
//
// Several accesses may share a step where that hides no behaviour: loads first, then one read-modify-write or seq_cst
// access or nothing, then stores. Everything before the middle could as well have been executed later, everything after
// it earlier, since a load may be answered by an old store and need not be by a new one. A heavy fence sets bounds to
// that: in a model that has one every access is a step of its own. Both rules are checked.
#pragma once

#include <cstdio>

#include "support/choices.hpp"
#include "support/weak_memory.hpp"

namespace test {

/// The kernel's part: who sleeps, and whose heavy fence has still to reach whom.
struct Kernel {
  std::uint8_t sleepers = 0;  // by thread
  std::array<std::uint8_t, Memory::max_threads>
      fencing{};  // by thread: the threads that its fence has to pass yet
};

class Access {
 public:
  Access(Memory& memory, Kernel& kernel, unsigned thread, Choices& choices, std::string* trace)
      : memory_(memory), kernel_(kernel), thread_(thread), choices_(choices), trace_(trace) {}

  Word load(Location at, std::memory_order order) {
    count(order == std::memory_order_seq_cst ? Part::middle : Part::load);
    const unsigned n = memory_.readable(thread_, at, order, false);
    const unsigned choice = choices_.pick(n);
    const Word value = memory_.load(thread_, at, order, choice);
    tell("load", at, value, choice + 1 == n ? "" : " (old)");
    return value;
  }
  void store(Location at, Word value, std::memory_order order) {
    count(order == std::memory_order_seq_cst ? Part::middle : Part::store);
    memory_.store(thread_, at, value, order, choices_.pick(memory_.places(thread_, at, order)));
    tell("store", at, value, "");
  }
  /// A read-modify-write: the value before.
  template <class F>
  Word modify(Location at, std::memory_order order, F f) {
    count(Part::middle);
    const unsigned choice = choices_.pick(memory_.readable(thread_, at, order, true));
    const Word before = memory_.modify(thread_, at, order, choice, f);
    tell("modify", at, before, " before");
    return before;
  }
  Word exchange(Location at, Word value, std::memory_order order) {
    return modify(at, order, [value](Word) { return value; });
  }
  Word fetch_add(Location at, Word value, std::memory_order order) {
    return modify(at, order, [value](Word before) { return before + value; });
  }
  Word fetch_or(Location at, Word value, std::memory_order order) {
    return modify(at, order, [value](Word before) { return before | value; });
  }
  /// Accesses to plain words: how they fall together with others does not matter, a race is one in any case.
  void write(Location at, Word value) {
    memory_.write(thread_, at, value);
    tell("write", at, value, "");
  }
  Word read(Location at) {
    const Word value = memory_.read(thread_, at);
    tell("read", at, value, "");
    return value;
  }

  /// This thread's full fence, and nobody else's.
  void full_fence() {
    count(Part::middle);
    memory_.full_fence(thread_);
    tell("full fence");
  }
  /// membarrier(2): a full fence here; then, one after the other in any order while the others go on, one in each
  /// other thread; then another one here. The thread's next step comes after that.
  void heavy_fence() {
    count(Part::middle);
    heavy_ = true;
    memory_.full_fence(thread_);
    kernel_.fencing[thread_] = static_cast<std::uint8_t>(((1u << memory_.threads()) - 1) & ~(1u << thread_));
    tell("heavy fence begins");
  }
  /// futex(2), FUTEX_WAIT: sleeps unless it sees another value. Wait and wake are totally ordered, with a full fence in
  /// each before it looks at the word or for sleepers; a thread that was woken has passed one, too. Each thread
  /// sleeps on a word of its own.
  void futex_wait(Location at, Word expected) {
    count(Part::middle);
    memory_.full_fence(thread_);
    const unsigned n = memory_.readable(thread_, at, std::memory_order_relaxed, false);
    const Word value = memory_.load(thread_, at, std::memory_order_relaxed, choices_.pick(n));
    if (value == expected) kernel_.sleepers = static_cast<std::uint8_t>(kernel_.sleepers | 1u << thread_);
    tell(value == expected ? "sleeps on" : "does not sleep on", at, value, "");
  }
  void futex_wake(unsigned sleeper) {
    count(Part::middle);
    memory_.full_fence(thread_);
    tell((kernel_.sleepers >> sleeper & 1) != 0 ? "wakes the sleeper" : "wakes nobody");
    if ((kernel_.sleepers >> sleeper & 1) == 0) return;
    kernel_.sleepers = static_cast<std::uint8_t>(kernel_.sleepers & ~(1u << sleeper));
    memory_.full_fence(sleeper);
  }

  /// A choice of the model's own: 0 .. n-1.
  unsigned choose(unsigned n) { return choices_.pick(n); }
  /// A property does not hold. `what` is a literal. The step goes on to its end, which does not matter any more.
  void fail(const char* what) noexcept {
    if (fault_ == nullptr) fault_ = what;
  }
  void tell(const char* what) {
    if (trace_ != nullptr) *trace_ += "\n  " + std::to_string(thread_) + ": " + what;
  }

  [[nodiscard]] const char* fault() const noexcept { return fault_ != nullptr ? fault_ : memory_.fault(); }
  [[nodiscard]] bool several() const noexcept { return accesses_ > 1; }
  [[nodiscard]] bool heavy() const noexcept { return heavy_; }

 private:
  enum class Part { load, middle, store };
  void count(Part part) noexcept {
    if (part != Part::store && past_loads_) fail("the model: a load behind a store in one step");
    past_loads_ = past_loads_ || part != Part::load;
    ++accesses_;
  }
  void tell(const char* what, Location at, Word value, const char* more) {
    if (trace_ == nullptr) return;
    char text[32];
    std::snprintf(text, sizeof text, value < 1000 ? "%llu" : "0x%llx",
                  static_cast<unsigned long long>(value));
    *trace_ += "\n  " + std::to_string(thread_) + ": " + what + " " + memory_.name(at) + ": " + text + more;
  }

  Memory& memory_;
  Kernel& kernel_;
  const unsigned thread_;
  Choices& choices_;
  std::string* const trace_;
  const char* fault_ = nullptr;
  bool past_loads_ = false;
  bool heavy_ = false;
  unsigned accesses_ = 0;
};

}  // namespace test
