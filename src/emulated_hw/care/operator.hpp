// An operator: it sends what its evaluator asks for, and receives for it (Byrd, Nakano and Delagi 1987, 4.3). The two share memory: requests, and
// what has been delivered.
//
// It sends a packet again, to all targets but its own, that came with :end-of-packet and has other targets: one that was stored on its way, or an
// aborted multicast. Its own targets it serves then and there.
#pragma once

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
  void request(const Packet& packet);
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
  void step_receive(const Wire& packet_in, Cycle now);
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
  void serve(Cycle now);
  [[nodiscard]] Packet foreign() const;

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
