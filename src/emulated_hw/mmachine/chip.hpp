// A MAP chip under the clock: three clusters of five thread slots, the network's output and input units, the event queue (3.1, 4.1).
//
// In each cycle a cluster gives one instruction to one of its threads that can go on, in turns. Three slots are reserved: messages of priority 0
// on cluster 1, of priority 1 on cluster 2, events on cluster 0. In the first two a dispatcher waits for MsgHead and jumps to it, in 3 cycles;
// a handler that returns, or that an exception ends, has it wait for the next message. Which code stands at an address is said by place().
//
// An output unit serves the clusters in turns; a thread that has been given it issues its SEND in the next cycle that its cluster gives it.
//
// Assumed: the reserved slot is the last; a handler that no code was placed for, or whose pointer cannot be jumped to, costs its dispatch and is
// counted; the units of the two priorities may both take a message in one cycle; the flag of a miss stays, whatever IGTWR says, while the
// event of another ordered message is being made or has not been begun to be read: its handler could not know of it, and later ones would
// overtake; an event that finds the queue full waits beside it, and the output unit, which in the thesis is held until then (4.2.3), is free:
// else the handler of events could wait for the unit, and that for the handler.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.1, 3.2.3, 4.1, 4.2.1, 5.2.3.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/mmachine/event_queue.hpp"
#include "emulated_hw/mmachine/mesh.hpp"
#include "emulated_hw/mmachine/network_input.hpp"
#include "emulated_hw/mmachine/network_output.hpp"
#include "emulated_hw/mmachine/thread.hpp"

namespace am::mmachine {

class Chip final : public NetworkUnits {
 public:
  static constexpr unsigned clusters = 3;
  static constexpr unsigned slots = 5;
  static constexpr unsigned reserved_slot = slots - 1;
  static constexpr std::array<unsigned, priorities> message_cluster = {1, 2};
  static constexpr unsigned event_cluster = 0;

  /// At `here` in a mesh that ends at `last`.
  Chip(NodePlace here, NodePlace last, const Cycle& now);
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  [[nodiscard]] NodePlace place() const noexcept { return here_; }
  [[nodiscard]] Cycle now() const noexcept { return now_; }
  /// What is at an address, for messages to name. It lives as long as the chip.
  void place(std::uint64_t address, Thread::Code code) { code_[address] = std::move(code); }
  [[nodiscard]] const Thread::Code* code_at(std::uint64_t address) const noexcept;
  /// Of the slots that are not reserved, and that for events.
  [[nodiscard]] Thread& thread(unsigned cluster, unsigned slot) { return *threads_.at(cluster).at(slot); }
  [[nodiscard]] NetworkOutput& output() noexcept { return output_; }
  [[nodiscard]] NetworkInput& input(Priority priority) noexcept { return inputs_[index(priority)]; }
  [[nodiscard]] EventQueue& events() noexcept { return events_; }

  struct Counts {
    std::array<std::uint64_t, priorities> handled{};  ///< messages that were dispatched
    std::uint64_t exceptions = 0;  ///< of these, those that an exception ended, or that had no code
    std::uint64_t gtlb_misses = 0;
    std::uint64_t sent = 0;
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::string& last_exception() const noexcept { return last_exception_; }
  [[nodiscard]] std::uint8_t parity_faults() const noexcept { return parity_faults_; }

  /// What comes to it takes so many cycles more, on wires of that length (7.2.2): before anything does.
  void delay(Cycle cycles) noexcept { extra_cycles_ = cycles; }
  /// Is called when a program has ended, in that cycle: its slot may run another one.
  void when_ended(std::function<void()> call) { when_ended_ = std::move(call); }
  /// Each SEND takes its thread so many cycles more (7.2.2; there its cluster, here others of that go on).
  void burden(unsigned cycles) noexcept { extra_send_cycles_ = cycles; }
  [[nodiscard]] unsigned extra_send_cycles() const noexcept { return extra_send_cycles_; }

  /// One cycle. Throws what a program throws, but for the Exception of a handler.
  void step();
  /// So that nothing changes here, whatever time passes, until its bell is rung.
  [[nodiscard]] bool has_nothing_to_do() const noexcept;
  /// A thread is in something that takes longer than so many cycles.
  [[nodiscard]] bool is_busy_for(Cycle cycles) const noexcept;
  /// Adds its threads. What its network inputs wait for are their handlers.
  void add_waits(kit::Waits& waits) const;
  void rings(kit::NodeBell self, kit::NodeBell network) noexcept {
    self_ = self;
    network_ = network;
  }
  void wake() const noexcept { self_.ring(); }

  // -- its threads

  [[nodiscard]] bool may_issue(const SendInstruction& what, unsigned argcount) const noexcept {
    return !reserved_[what.priority] && output_.may_issue(what, argcount, now_);
  }
  /// What IGTWR does to the flag of a miss.
  void clear_miss() noexcept;
  void begins(unsigned cluster, unsigned slot) noexcept {
    running_ |= kit::request(cluster * slots + slot);
    wake();
  }
  void issue(unsigned cluster, unsigned slot, const NetworkOutput::Sending& sending, unsigned condition);

  // -- the network

  const Flit* outgoing(Priority priority) override { return output_.outgoing(priority, now_); }
  void gone(Priority priority) override { output_.gone(priority); }
  bool has_outgoing() const override { return !output_.is_empty(); }
  bool has_room(Priority priority) override {
    return extra_cycles_ == 0 ? inputs_[index(priority)].has_room()
                              : delayed_[index(priority)].size() <= extra_cycles_;
  }
  void deliver(Priority priority, const Flit& flit) override;

 private:
  /// A condition register that becomes full.
  struct Filling {
    Cycle at;
    Thread* thread;
    unsigned condition;
  };

  /// An event that the output unit is making, or that waits for room.
  struct Missed {
    Cycle at;
    GtlbMiss what;
  };

  struct Delayed {
    Cycle at;
    Flit flit;
  };

  void take_what_is_due();
  void take_what_was_delayed();
  Program dispatch(Thread& thread, Priority priority);
  [[nodiscard]] const Thread::Code& enter(Thread& thread, const Word& head) const;
  static constexpr kit::Requests of_cluster(unsigned cluster) noexcept {
    return ((kit::Requests{1} << slots) - 1) << cluster * slots;
  }
  [[nodiscard]] Thread& thread_at(unsigned place) const noexcept {
    return *threads_[place / slots][place % slots];
  }
  void give_output(Priority priority);
  void give_cycles();
  void look_whether_ended(unsigned place);

  const NodePlace here_;
  const Cycle& now_;
  std::array<std::array<std::unique_ptr<Thread>, slots>, clusters> threads_;
  std::map<std::uint64_t, Thread::Code> code_;
  NetworkOutput output_;
  std::uint8_t parity_faults_ = 0;
  std::array<NetworkInput, priorities> inputs_;
  EventQueue events_;
  std::vector<Missed> missed_;
  std::vector<Filling> filling_;
  std::array<bool, priorities> reserved_{};  // an output unit, for a thread that is to issue
  std::array<kit::RoundRobin, priorities> turn_of_cluster_{};
  std::array<std::array<kit::RoundRobin, clusters>, priorities> turn_of_sender_{};
  std::array<kit::RoundRobin, clusters> turn_of_thread_{};
  unsigned extra_send_cycles_ = 0;
  Cycle extra_cycles_ = 0;
  std::array<std::deque<Delayed>, priorities> delayed_;
  kit::Requests running_ = 0;  // slots with a program: cluster * slots + slot
  Counts counts_{};
  std::string last_exception_;
  std::function<void()> when_ended_;
  kit::NodeBell self_{};
  kit::NodeBell network_{};
};

}  // namespace am::mmachine
