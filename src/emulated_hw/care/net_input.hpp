// A net-input: it accepts a packet, has the router connect it to net-outputs, and sends it on its way (Byrd, Nakano and Delagi 1987, 4.5, Table
// F). It stores one word.
//
// The router takes one target entry in each cycle, and decides with the first one whether the packet is split: it cannot look ahead. A later entry
// for which no net-output is to be had seeks as the first one does. Over the threshold it fails, with all connections made so far (footnote
// 10): the net-input aborts, and the local copy, which has the whole list, is sent again.
#pragma once

#include "emulated_hw/care/router.hpp"
#include "emulated_hw/care/state_machines.hpp"

namespace am::care {

class NetInput {
 public:
  using State = net_input::State;
  using When = net_input::When;

  enum class Connection : std::uint8_t { unicast, passthru, all_remote, some_local };

  /// The options and counts outlive it.
  NetInput(PortNumber number, const Options& options, Counts& counts) noexcept
      : number_(number), options_(options), counts_(counts) {}

  /// An odd phase; and its second event, when all net-inputs of the site have had the first (5.3).
  void step(const Wire& packet_in, Router& router);
  void step_final(Router& router);
  /// In an even phase: what the router passes to one of the net-outputs that it is connected to.
  [[nodiscard]] Wire packet_out(PortNumber output, const Router& router) const noexcept;
  [[nodiscard]] Status status_out() const noexcept { return machine_.status(); }

  [[nodiscard]] const NetInputMachine& machine() const noexcept { return machine_; }
  [[nodiscard]] Connection connection() const noexcept { return connection_; }
  [[nodiscard]] bool is_multicast() const noexcept { return connection_ >= Connection::all_remote; }
  /// The packet that it has, in any state but free.
  [[nodiscard]] PacketNumber packet() const noexcept { return packet_; }
  /// The target for which it seeks a net-output, if it does.
  [[nodiscard]] std::optional<NodeNumber> sought() const noexcept;
  [[nodiscard]] bool is_idle() const noexcept { return machine_.is(State::free) && ended_.outputs == 0; }
  [[nodiscard]] bool stores_a_word() const noexcept { return static_cast<bool>(word_); }

  /// Words that are no pads, and terminators, that it has taken.
  [[nodiscard]] std::uint64_t words() const noexcept { return words_; }

 private:
  /// Terminators on their way to net-outputs, for one phase.
  struct Ended {
    Ports outputs = 0;
    Terminator remote = Terminator::none;
    Terminator at_local = Terminator::none;
  };

  void seek(Router& router);
  [[nodiscard]] bool begin(Router& router);
  [[nodiscard]] bool may_follow(const Router& router);
  void route(Router& router);
  void take(const Word& word, Router& router);
  void go_on(const Wire& packet_in, Router& router);
  void abort(Router& router);
  void commit(Router& router);
  void end(Router& router, Terminator remote, Terminator at_local);
  [[nodiscard]] bool is_blocked(const Router::Relayed& relayed) const noexcept {
    return relayed.status != Status::open || !is_routed_ || (branches_ & ~taken_) != 0;
  }
  [[nodiscard]] bool is_aborting() const noexcept {
    return machine_.is(State::abort) || machine_.is(State::fin_abort);
  }

  const PortNumber number_;
  const Options& options_;
  Counts& counts_;
  NetInputMachine machine_;
  Connection connection_ = Connection::unicast;
  Word word_{};         // the one that it stores
  Ports branches_ = 0;  // net-outputs that it goes to
  Ports taken_ = 0;     // of these, those that have it
  bool is_routed_ = true;
  List list_ = List::whole;
  Terminator terminator_ = Terminator::none;  // received
  unsigned attempts_ = 0;
  PacketNumber packet_ = 0;
  Ended ended_{};
  std::uint64_t words_ = 0;
};

}  // namespace am::care
