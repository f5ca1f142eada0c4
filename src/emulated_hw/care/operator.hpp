// An operator: it sends what its evaluator asks for, and receives for it (Byrd, Nakano and Delagi 1987, 4.3). The two share memory: requests, and
// what has been delivered.
//
// It sends a packet again, to all targets but its own, that came with :end-of-packet and has other targets: one that was stored on its way, or an
// aborted multicast. Its own targets it serves then and there.
#pragma once

#include <algorithm>
#include <vector>

#include "emulated_hw/care/fifo_buffer.hpp"

namespace am::care {

class Operator {
 public:
  /// The options and counts outlive it.
  Operator(NodeNumber here, const Options& options, Counts& counts) noexcept
      : here_(here), options_(options), counts_(counts), requests_(options) {}

  // -- its evaluator's

  [[nodiscard]] bool has_room() const noexcept {
    return !options_.requests || requests_.packets() < *options_.requests;
  }
  /// There is room.
  void request(const Packet& packet) {
    const auto is_of_first = [&](const Target& target) { return target.site == packet.targets.front().site; };
    const bool one_site = std::ranges::all_of(packet.targets, is_of_first);
    for (const Target& target : packet.targets) {
      requests_.push({.kind = Word::Kind::target,
                      .last = &target == &packet.targets.back(),
                      .one_site = one_site,
                      .packet = packet.number,
                      .value = target.site,
                      .at = target.data_at,
                      .words = packet.words});
    }
    if (options_.fidelity == Fidelity::words) {
      for (const std::uint32_t word : packet.data)
        requests_.push({.kind = Word::Kind::data, .packet = packet.number, .value = word});
    }
    requests_.push(Terminator::end_of_packet);
  }
  struct Delivery {
    PacketNumber packet = 0;
    Target target{};
    std::vector<std::uint32_t> data{};  ///< of the packet
    std::uint32_t words = 0;
    Cycle at = 0;
  };
  [[nodiscard]] std::vector<Delivery>& delivered() noexcept { return delivered_; }

  // -- the network's

  /// An odd phase.
  void step_receive(const Wire& packet_in, Cycle now) {
    if (is_new_) {
      if (now >= served_at_) serve(now);
      return;
    }
    if (packet_in.word || packet_in.terminator != Terminator::none) ++taken_;
    if (packet_in.word) {
      buffer_.push_back(packet_in.word);
      status_ = Status::open;
    }
    switch (packet_in.terminator) {
      case Terminator::none:
        return;
      case Terminator::abort_packet:
        buffer_.clear();
        status_ = Status::free;
        ++counts_.discarded;
        return;
      default:
        is_new_ = true;
        local_only_ = packet_in.terminator == Terminator::local_end_of_packet;
        status_ = Status::wait;
        served_at_ = now + options_.service;
    }
  }
  /// An even phase.
  void step_send(Status status_in, Cycle now) { requests_.step(status_in, now); }
  [[nodiscard]] const Wire& packet_out() const noexcept { return requests_.packet_out(); }
  [[nodiscard]] Status status_out() const noexcept { return status_; }

  /// The network-buffer-status.
  [[nodiscard]] bool is_new() const noexcept { return is_new_; }
  [[nodiscard]] PacketNumber received() const noexcept {
    return buffer_.empty() ? 0 : buffer_.front().packet;
  }
  /// Words and terminators that it has taken.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] const PacketSource& requests() const noexcept { return requests_; }
  [[nodiscard]] bool is_idle() const noexcept { return buffer_.empty() && requests_.is_idle(); }

 private:
  /// A packet that is to be sent again waits for room among the requests.
  void serve(Cycle now) {
    const Packet rest = foreign();
    const bool again = !local_only_ && !rest.targets.empty();
    if (again && !has_room()) return;
    for (const Word& word : buffer_) {
      if (word.is_target() && word.value == here_)
        delivered_.push_back({rest.number, {word.value, word.at}, rest.data, rest.words, now});
    }
    if (again) {
      request(rest);
      ++counts_.retransmissions;
    }
    buffer_.clear();
    is_new_ = false;
    status_ = Status::free;
  }
  [[nodiscard]] Packet foreign() const {
    Packet rest{.number = buffer_.front().packet, .words = buffer_.front().words};
    for (const Word& word : buffer_) {
      if (word.kind == Word::Kind::data) rest.data.push_back(word.value);
      if (word.is_target() && word.value != here_) rest.targets.push_back({word.value, word.at});
    }
    return rest;
  }

  const NodeNumber here_;
  const Options& options_;
  Counts& counts_;
  PacketSource requests_;
  std::vector<Word> buffer_;  // the network-buffer
  bool is_new_ = false;
  bool local_only_ = false;
  Status status_ = Status::free;
  Cycle served_at_ = 0;
  std::vector<Delivery> delivered_;
  std::uint64_t taken_ = 0;
};

}  // namespace am::care
