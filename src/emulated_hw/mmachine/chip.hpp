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

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
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
  Chip(NodePlace here, NodePlace last, const Cycle& now)
      : here_(here),
        now_(now),
        threads_(threads_of(*this, std::make_index_sequence<clusters * slots>())),
        output_(here, last),
        inputs_{NetworkInput(Priority::p0, parity_faults_), NetworkInput(Priority::p1, parity_faults_)} {
    for (const unsigned cluster : message_cluster)
      thread(cluster, reserved_slot).run([this](Thread& slot) { return dispatch(slot); }, Privilege::system);
  }
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  [[nodiscard]] NodePlace place() const noexcept { return here_; }
  [[nodiscard]] Cycle now() const noexcept { return now_; }
  /// What is at an address, for messages to name. It lives as long as the chip.
  void place(std::uint64_t address, Thread::Code code) { code_[address] = std::move(code); }
  [[nodiscard]] const Thread::Code* code_at(std::uint64_t address) const noexcept {
    const auto found = code_.find(address);
    return found == code_.end() ? nullptr : &found->second;
  }
  /// Of the slots that are not reserved, and that for events.
  [[nodiscard]] Thread& thread(unsigned cluster, unsigned slot) {
    return threads_.at(cluster * slots + slot);
  }
  [[nodiscard]] NetworkOutput& output() noexcept { return output_; }
  [[nodiscard]] NetworkInput& input(Priority priority) noexcept { return inputs_[index(priority)]; }
  [[nodiscard]] EventQueue& events() noexcept { return events_; }

  /// Handlers that an exception ended, or messages that had no code.
  [[nodiscard]] std::uint64_t exceptions() const noexcept { return exceptions_; }
  [[nodiscard]] const std::string& last_exception() const noexcept { return last_exception_; }

  /// What comes to it takes so many cycles more, on wires of that length (7.2.2): before anything does.
  void delay(Cycle cycles) noexcept { extra_cycles_ = cycles; }
  /// Is called when a program has ended, in that cycle: its slot may run another one.
  void when_ended(std::function<void()> call) { when_ended_ = std::move(call); }
  /// Each SEND takes its thread so many cycles more (7.2.2; there its cluster, here others of that go on).
  void burden(unsigned cycles) noexcept { extra_send_cycles_ = cycles; }
  [[nodiscard]] unsigned extra_send_cycles() const noexcept { return extra_send_cycles_; }

  /// One cycle. Throws what a program throws, but for the Exception of a handler.
  void step() {
    for (NetworkInput& input : inputs_) input.settle();
    if (extra_cycles_ != 0) take_what_was_delayed();
    if (!filling_.empty() || !missed_.empty()) take_what_is_due();
    kit::for_each(running_, [&](unsigned place) {
      threads_[place].wake();
      look_whether_ended(place);
    });
    for (const Priority priority : {Priority::p0, Priority::p1}) give_output(priority);
    give_cycles();
  }
  /// So that nothing changes here, whatever time passes, until its bell is rung.
  [[nodiscard]] bool has_nothing_to_do() const noexcept {
    if (!filling_.empty() || !missed_.empty() || !delayed_[0].empty() || !delayed_[1].empty()) return false;
    bool all_sleep = !inputs_[0].has_to_settle() && !inputs_[1].has_to_settle();
    kit::for_each(running_, [&](unsigned place) { all_sleep = all_sleep && threads_[place].sleeps(); });
    return all_sleep;
  }
  /// A thread is in something that takes longer than so many cycles.
  [[nodiscard]] bool is_busy_for(Cycle cycles) const noexcept {
    bool is_busy = false;
    kit::for_each(running_,
                  [&](unsigned place) { is_busy = is_busy || threads_[place].is_busy_for(cycles); });
    return is_busy;
  }
  /// Adds its threads. What its network inputs wait for are their handlers.
  void add_waits(kit::Waits& waits) const {
    kit::for_each(running_, [&](unsigned place) {
      std::string name = to_text(here_) + " cluster " + std::to_string(place / slots) + " slot " +
                         std::to_string(place % slots);
      for (const Priority priority : {Priority::p0, Priority::p1}) {
        if (place == message_cluster[index(priority)] * slots + reserved_slot)
          name = place_of_input(here_, priority);
      }
      threads_[place].add_waits(waits, name);
    });
  }
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
  void clear_miss() noexcept {
    const auto is_ordered = [](const Missed& one) { return one.what.ordered; };
    if (!events_.has_ordered() && std::ranges::none_of(missed_, is_ordered)) output_.clear_miss();
  }
  void begins(unsigned cluster, unsigned slot) noexcept {
    running_ |= kit::request(cluster * slots + slot);
    wake();
  }
  void issue(unsigned cluster, unsigned slot, const Sent& sent) {
    const SendInstruction& what = sent.what();
    Thread& sender = thread(cluster, slot);
    reserved_[what.priority] = false;
    if (const auto filled = output_.issue(sent, what.is_floating ? sender.floating : sender.integers, now_)) {
      filling_.push_back({now_ + *filled, &sender, sent.condition});
      return network_.ring();
    }
    missed_.push_back({.at = now_ + (words_before_body - 1) + sent.argcount + NetworkOutput::event_cycles,
                       .what = {.ordered = what.is_ordered,
                                .took_buffer = what.is_throttled,
                                .cluster = static_cast<std::uint8_t>(cluster),
                                .slot = static_cast<std::uint8_t>(slot),
                                .floating = what.is_floating,
                                .argcount = static_cast<std::uint8_t>(sent.argcount),
                                .condition = static_cast<std::uint8_t>(sent.condition),
                                .handler = sent.handler,
                                .destination = sent.destination}});
  }

  // -- the network

  const Flit* outgoing(Priority priority) override { return output_.outgoing(priority, now_); }
  void gone(Priority priority) override { output_.gone(priority); }
  bool has_outgoing() const override { return !output_.is_empty(); }
  bool has_room(Priority priority) override {
    return extra_cycles_ == 0 ? inputs_[index(priority)].has_room()
                              : delayed_[index(priority)].size() <= extra_cycles_;
  }
  void deliver(Priority priority, const Flit& flit) override {
    wake();
    if (extra_cycles_ == 0) return inputs_[index(priority)].take(flit);
    delayed_[index(priority)].push_back({now_ + extra_cycles_, flit});
  }

 private:
  template <std::size_t... at>
  static std::array<Thread, sizeof...(at)> threads_of(Chip& chip, std::index_sequence<at...> /*all*/) {
    return {Thread(chip, at / slots, at % slots)...};
  }

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

  void take_what_is_due() {
    std::erase_if(filling_, [this](const Filling& one) {
      if (one.at > now_) return false;
      one.thread->fill(one.condition);
      return true;
    });
    std::erase_if(missed_, [this](const Missed& one) {
      if (one.at > now_ || !events_.has_room()) return false;
      events_.put(one.what);
      return true;
    });
  }
  void take_what_was_delayed() {
    for (unsigned priority = 0; priority < priorities; ++priority) {
      auto& line = delayed_[priority];
      if (line.empty() || line.front().at >= now_ || !inputs_[priority].has_room()) continue;
      inputs_[priority].take(line.front().flit);
      line.pop_front();
    }
  }
  Program dispatch(Thread& thread) {
    for (;;) {
      const Word head = co_await thread.msg_head();
      co_await thread.cycles(jump_cycles);
      try {
        const Thread::Code& code = enter(thread, head);
        co_await code(thread);
      } catch (const Exception& exception) {
        ++exceptions_;
        last_exception_ = exception.what();
      }
    }
  }
  /// A jump there, with the privilege that its pointer gives.
  [[nodiscard]] const Thread::Code& enter(Thread& thread, const Word& head) const {
    const Jumped to = jump(Privilege::system, head);
    if (to.violation) throw Exception("a message's handler cannot be jumped to");
    const std::uint64_t address = GuardedPointer::of(head)->address();
    const Thread::Code* const code = code_at(address);
    if (code == nullptr) throw Exception("no code at " + std::to_string(address));
    thread.set_privilege(to.privilege);
    return *code;
  }
  static constexpr kit::Requests of_cluster(unsigned cluster) noexcept {
    return ((kit::Requests{1} << slots) - 1) << cluster * slots;
  }
  void give_output(Priority priority) {
    kit::Requests asking = 0, among = 0;
    kit::for_each(running_, [&](unsigned place) {
      if (!threads_[place].asks_for(priority)) return;
      asking |= kit::request(place);
      among |= kit::request(place / slots);
    });
    if (asking == 0) return;
    const std::size_t p = index(priority);
    const unsigned cluster = turn_of_cluster_[p].pick(among);
    turn_of_cluster_[p].had_its_turn(cluster);
    const unsigned place = turn_of_sender_[p][cluster].pick(asking & of_cluster(cluster));
    turn_of_sender_[p][cluster].had_its_turn(place);
    reserved_[p] = true;
    threads_[place].grant();
  }
  void give_cycles() {
    kit::Requests ready = 0;
    kit::for_each(running_, [&](unsigned place) {
      if (threads_[place].can_issue(now_)) ready |= kit::request(place);
    });
    for (unsigned cluster = 0; cluster < clusters && ready != 0; ++cluster) {
      if ((ready & of_cluster(cluster)) == 0) continue;
      const unsigned place = turn_of_thread_[cluster].pick(ready & of_cluster(cluster));
      turn_of_thread_[cluster].had_its_turn(place);
      threads_[place].issue();
      look_whether_ended(place);
    }
  }
  void look_whether_ended(unsigned place) {
    if (!threads_[place].has_ended()) return;
    running_ &= ~kit::request(place);
    if (when_ended_) when_ended_();
  }

  const NodePlace here_;
  const Cycle& now_;
  std::array<Thread, clusters * slots> threads_;  // by cluster * slots + slot
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
  std::uint64_t exceptions_ = 0;
  std::string last_exception_;
  std::function<void()> when_ended_;
  kit::NodeBell self_{};
  kit::NodeBell network_{};
};

}  // namespace am::mmachine
