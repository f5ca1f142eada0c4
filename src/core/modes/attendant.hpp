// Who looks after a node while its program computes: events beside the computation (am::Dispatch::thread), or in the middle of
// it (am::Dispatch::interrupt); who runs them when, and how the node is told that something has come.
//
// Source: T1 report, sections 3.4 ("There was no need to choose between the two models"), 3.8 and A.9.
//
// The node belongs to whoever is in it (impl::EventLock). Its thread is in during library calls and critical sections; waits
// last as one such call, so they poll as in the polling mode, and at its speed. When the thread has left, one of these looks
// after the node:
//   - its handler thread, while that is awake: it looks at the places where news shows;
//   - nobody: then the node is armed. Whoever sends to it next wakes the handler thread, or interrupts the computation.
// Armed means: an alarm is set, no ring is watched, and after both had been made known nothing was there (Transport::arm).
// Whoever finds something and is in the node ends that; then the node's thread asks itself for attention, and when it leaves
// it runs what waits and arms the node again (attend).
//
// The first call that makes progress begins all this. Before it, no event runs in any mode: so a program may attach its
// objects and set its handlers as in the polling mode.
//
// Interrupts. A signal that finds the thread in the node only asks for attention. Otherwise it attends. While a low handler
// of the program runs, the thread is not in the node: a signal attends then, too, and at that level only high events may run
// (Interruptible). For that alone the signal is let in again, which the kernel blocks in its handler: so interrupts lie two
// deep on the stack, and never one upon the other's end. A burst costs one signal: the alarm goes off once, and is set again
// when the rings are empty.
//
// In the polling mode it has nothing to do. Used by whoever is in the node, where nothing else is said.
#pragma once

#include <am/impl/event_lock.hpp>
#include <am/node.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include "core/modes/handler_thread.hpp"
#include "core/modes/interrupts.hpp"
#include "core/node/uncaught.hpp"
#include "host/bell.hpp"
#include "host/job_clock.hpp"
#include "transports/lookout.hpp"

namespace am::core {

class Attendant {
 public:
  static constexpr Count never = ~Count{0};

  /// The node, as far as its attendant has to know it.
  class Ward {
   public:
    /// Called before the first event. Throws am::Error where there is no memory for what events use.
    virtual void events_begin() = 0;
    /// Runs what waits and may run here, up to a bound. How much that was. Keeps what is thrown (Attendant::keep_thrown).
    virtual std::size_t run_events() noexcept = 0;
    /// Whether more waits than those `ran` events, or comes by itself. Adds the places where news shows.
    [[nodiscard]] virtual bool more_waits(Lookout& lookout, std::size_t ran) noexcept = 0;
    /// Sees to it that whoever brings what may run here rings. False: something has come.
    [[nodiscard]] virtual bool arm(host::Alarm alarm) noexcept = 0;
    virtual void disarm() noexcept = 0;
    /// Not within a handler.
    [[nodiscard]] virtual bool computes() const noexcept = 0;
    /// When something is due that may run or be sent here; never: nothing is.
    [[nodiscard]] virtual Count next_due() noexcept = 0;
    [[nodiscard]] virtual bool outlet_may_run() noexcept = 0;
    virtual void look_after_peers() noexcept = 0;

   protected:
    ~Ward() = default;
  };

  struct Place {
    const host::Board& board;
    NodeId self;
    Dispatch dispatch;
    std::pmr::memory_resource* memory;  ///< that events may use
  };
  /// How the node's thread is in it (am/node.hpp).
  struct Entrance {
    Node* node;
    bool& shared;  ///< there are events beside the computation
    std::uint32_t& depth;
    impl::EventLock& lock;
  };

  Attendant(const Place& place, Ward& ward) : place_(place), ward_(ward), spent_(place.memory) {}

  // -- beginning and end

  /// In the interrupt mode: takes the signal. Throws am::Error when somebody else has a handler for it.
  void take_signal(int signal) {
    if (place_.dispatch == Dispatch::interrupt) interrupt_.emplace(signal);
  }
  void attach(const Entrance& entrance) noexcept { in_.emplace(entrance); }
  /// The first call that makes progress: events may run from here on. Throws am::Error where that needs what there
  /// is not: a thread, memory.
  void begin() {
    if (in_->shared && !begun_ && !ended_) begin_events();
  }
  /// From here on the node polls. Events that run beside us end first. Not in the node, but by an event that ends the program, or
  /// where the program itself holds events off.
  void stop() noexcept;
  /// The same for a node that leaves: nobody is left to whom what was kept could be thrown.
  void end() noexcept;

  // -- the node's thread

  /// It has left the node, and somebody asked for attention: runs what waits, and sees to it that the node is told of what
  /// comes.
  void attend() noexcept;
  /// It was interrupted, wherever it was.
  void interrupted(bool by_timer) noexcept;
  [[nodiscard]] bool interrupts_computation() const noexcept { return interrupts_ != 0; }
  /// What may run, or what is waited for, has changed: whoever leaves the node next looks, and arms it anew.
  void look_again() noexcept {
    if (in_->shared) in_->lock.want_attention();
  }
  /// The node's thread looks by itself from now on: it waits, and polls meanwhile.
  void look_ourselves() noexcept {
    if (!in_->shared) return;
    ward_.disarm();
    in_->lock.want_attention();
  }
  [[nodiscard]] bool thread_serves() const noexcept { return thread_serves_; }

  class Interruptible;
  class Computation;

  // -- the handler thread, which is in the node

  /// Runs the events that wait. When to look again, besides when something comes: a Count; 0 for at once.
  Count serve(Lookout& lookout) noexcept;
  /// Nothing waits any more: the handler thread is to be told by its bell, and to look again then, a Count; 0: something
  /// has come.
  [[nodiscard]] Count rest() noexcept;
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] host::NodeCard& card() const noexcept { return place_.board.card(place_.self); }
  [[nodiscard]] Count now() const noexcept { return host::JobClock(place_.board.job()).now(); }
  [[nodiscard]] Node* node() const noexcept { return in_->node; }

  // -- what a signal handler must not destroy: kept until the node's thread is in a library call

  void discard(std::shared_ptr<void> spent) {
    if (interrupts_ != 0) spent_.push_back(std::move(spent));
  }
  template <class F>
  void discard_function(F f) {
    if (interrupts_ != 0)
      spent_.push_back(
          std::allocate_shared<F>(std::pmr::polymorphic_allocator<F>(place_.memory), std::move(f)));
  }
  void drop_discarded() noexcept {
    if (interrupts_ == 0) spent_.clear();
  }

  // -- what an event threw whose caller was nobody: the next call that makes progress throws it

  /// The exception that is being handled, unless there is one already.
  void keep_thrown() noexcept {
    if (!thrown_.exception) thrown_ = origin_of_current(place_.self);
  }
  void throw_kept() {
    if (thrown_.exception) [[unlikely]]
      throw_again(take_kept());
  }
  /// The same for who tells of it in another way.
  [[nodiscard]] Origin take_kept() noexcept { return std::exchange(thrown_, {}); }

 private:
  void begin_events();
  [[nodiscard]] bool attend_for_thread() noexcept;
  void attend_to_interrupts() noexcept;
  void set_timer(bool soon) noexcept;
  /// Whether another interrupt may come into this one.
  void block_signal(bool blocked) noexcept {
    if (interrupts_ == 0 || signal_blocked_ == blocked) return;
    interrupt_->block(blocked);
    signal_blocked_ = blocked;
  }
  /// Out of the node, however deep in it the thread is; gives back how deep.
  std::uint32_t step_out() noexcept;
  void step_in(std::uint32_t depth) noexcept;

  const Place place_;
  Ward& ward_;
  std::optional<const Entrance> in_;
  bool begun_ = false;
  bool ended_ = false;  // by an event on the handler thread, which stays in the node for good
  bool thread_serves_ =
      false;  // the handler thread is awake, and looks; otherwise we see to it that it is told
  bool signal_blocked_ = false;       // while we are in an interrupt: no other comes into it
  std::uint32_t interrupts_ = 0;      // we are in so many of them
  Count thread_wakes_ = 0;            // by itself, while it sleeps
  std::atomic<Count> timer_ = never;  // that the timer is set to; interrupts write it wherever they come
  Origin thrown_;
  std::pmr::vector<std::shared_ptr<void>> spent_;
  std::optional<HandlerThread> handler_thread_;
  std::optional<Interrupts> interrupt_;
};

/// A low handler of the program, as far as interrupts go: while one lives the node's thread is not in the node, so that high
/// events may preempt it. In the other modes it does nothing.
class Attendant::Interruptible {
 public:
  /// `yes` false: it is libam's own, and stays in the node.
  Interruptible(Attendant& attendant, bool yes) noexcept
      : attendant_(attendant),
        active_(yes && attendant.in_->shared && attendant.place_.dispatch == Dispatch::interrupt) {
    if (active_) [[unlikely]] {
      attendant_.look_again();  // arms the node for high events
      depth_ = attendant_.step_out();
      attendant_.block_signal(false);
    }
  }
  ~Interruptible() {
    if (active_) [[unlikely]] {
      attendant_.step_in(depth_);
      attendant_.ward_.disarm();  // whoever runs the handler goes on, and arms it again
    }
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Attendant& attendant_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

/// A function of the program that is computation, and runs in a library call: while one lives the node's thread is not in the
/// node.
class Attendant::Computation {
 public:
  explicit Computation(Attendant& attendant) noexcept
      : attendant_(attendant), active_(attendant.in_->shared) {
    if (!active_) return;
    attendant_.look_ourselves();  // so that the node is armed now
    depth_ = attendant_.step_out();
  }
  ~Computation() {
    if (!active_) return;
    attendant_.step_in(depth_);
    attendant_.look_ourselves();
  }
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

 private:
  Attendant& attendant_;
  const bool active_;
  std::uint32_t depth_ = 0;
};

}  // namespace am::core
