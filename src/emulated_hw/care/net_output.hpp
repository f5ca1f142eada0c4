// A net-output: it brings a packet to the next site, or to the local fifo-buffer (Byrd, Nakano and Delagi 1987, 4.7, Table H). It stores one word.
//
// Its first `wait`, when it has sent the front of a packet on, "updates the status table but does not trigger an event" (5.5): the net-input may
// take the next word, and sends it when the output opens. Without that each hop would hold up the words behind the front.
//
// Where a router splits a target list, a net-output holds an entry back until it knows whether another one follows it: the last of its part of
// the list gets the flag of the last target. (The text does not say who sets it; no more than the one word is stored for it.)
#pragma once

#include "emulated_hw/care/state_machines.hpp"

namespace am::care {

class NetOutput {
 public:
  using State = net_output::State;
  using When = net_output::When;

  /// An even phase.
  void step(const Wire& packet_in, Status status_in);
  [[nodiscard]] const Wire& packet_out() const noexcept { return out_; }
  [[nodiscard]] Status status_out() const noexcept { return machine_.status(); }
  // What its status tells the router beside the signal.
  [[nodiscard]] bool is_first_wait() const noexcept { return first_wait_; }
  /// It has taken the word that it was shown.
  [[nodiscard]] bool took() const noexcept { return took_; }

  [[nodiscard]] const NetOutputMachine& machine() const noexcept { return machine_; }
  /// The packet that has it, in any state but free.
  [[nodiscard]] PacketNumber packet() const noexcept { return word_.packet; }
  /// Nothing will happen before it is shown something.
  [[nodiscard]] bool is_idle() const noexcept {
    return machine_.is(State::free) && machine_.status() == Status::free &&
           out_.terminator == Terminator::none;
  }
  [[nodiscard]] bool stores_a_word() const noexcept { return static_cast<bool>(word_); }

 private:
  void begin(const Wire& packet_in, Status status_in);
  void go_on(const Wire& packet_in, Status status_in);
  void terminate(bool waits);
  void release(const Wire& packet_in);
  void load(const Wire& packet_in);

  NetOutputMachine machine_;
  Word word_{};  // the one that it stores
  bool holds_ = false;
  bool took_ = false;
  bool first_wait_ = false;
  Terminator terminator_ = Terminator::none;  // received, not sent
  Wire out_{};
};

}  // namespace am::care
