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
  void step(const Wire& packet_in, Status status_in) {
    took_ = first_wait_ = false;
    out_ = {};
    if (machine_.status() == Status::abort_request)
      machine_.say(machine_.is(State::open) ? Status::open : Status::wait);
    switch (machine_.state()) {
      case State::free:
        if (status_in == Status::free) machine_.say(Status::free);
        if (!packet_in.word.is_target()) return;
        machine_.enter(When::da);
        load(packet_in);
        begin(packet_in, status_in);
        break;
      case State::first:
        begin(packet_in, status_in);
        break;
      default:
        go_on(packet_in, status_in);
    }
    if (!holds_ && !machine_.is(State::first)) out_.word = word_;
  }
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
  /// The front of a packet goes when downstream is free.
  void begin(const Wire& packet_in, Status status_in) {
    if (packet_in.terminator == Terminator::abort_packet) {
      machine_.enter(When::ap);
      holds_ = false;
      word_.kind = Word::Kind::none;
      return;
    }
    release(packet_in);
    if (status_in == Status::free && !holds_) {
      machine_.enter(When::f);
      first_wait_ = true;
    } else {
      machine_.say(status_in == Status::free ? Status::open : Status::wait);
    }
  }
  void go_on(const Wire& packet_in, Status status_in) {
    const bool asks = status_in == Status::abort_request;
    const bool waits = status_in == Status::wait || asks;
    if (!waits && !holds_) word_.kind = Word::Kind::none;  // it has been taken
    if (asks) machine_.enter(When::ar);
    if (packet_in.terminator != Terminator::none) terminator_ = packet_in.terminator;
    if (packet_in.terminator == Terminator::abort_packet && holds_) {
      holds_ = false;
      word_.kind = Word::Kind::none;
    }
    if (machine_.is(State::wait) && status_in == Status::open) machine_.enter(When::o);
    if (packet_in.terminator != Terminator::none) {
      machine_.enter(machine_.is(State::open) && status_in == Status::wait ? When::wtr : When::tr);
    } else if (machine_.is(State::open)) {
      if (status_in == Status::wait) machine_.enter(When::w);
    } else if (machine_.is(State::done) && status_in == Status::wait) {
      machine_.enter(When::w);
    }
    const bool may_load = !waits && machine_.is(State::open);
    if (holds_) {
      release(packet_in);
    } else if (may_load) {
      load(packet_in);
    }
    terminate(waits);
  }
  void terminate(bool waits) {
    if (waits || holds_ || word_) return;
    if (machine_.is(State::last)) machine_.enter(When::o);
    if (!machine_.is(State::done)) return;
    machine_.enter(When::nw);
    machine_.say(Status::wait);  // until downstream has answered `free`
    out_.terminator = terminator_;
    terminator_ = Terminator::none;
  }
  /// What it holds goes, when another entry for it, or the end of the list, has come to the router.
  void release(const Wire& packet_in) {
    if (!holds_ || took_) return;
    if (packet_in.word.is_target()) {
      holds_ = false;
    } else if (packet_in.list == List::over) {
      holds_ = false;
      word_.last = true;
    }
  }
  void load(const Wire& packet_in) {
    if (!packet_in.word) return;
    word_ = packet_in.word;
    took_ = word_.kind != Word::Kind::pad;
    holds_ = word_.is_target() && !word_.last && packet_in.list != List::whole;
  }

  NetOutputMachine machine_;
  Word word_{};  // the one that it stores
  bool holds_ = false;
  bool took_ = false;
  bool first_wait_ = false;
  Terminator terminator_ = Terminator::none;  // received, not sent
  Wire out_{};
};

}  // namespace am::care
