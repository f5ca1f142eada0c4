// The network context of a partition of the CM-5 (von Eicken 1993, 3.2.3): how the kernels of its nodes, all at once, save what is in the
// data networks, and put it back.
//
// To save: users have stopped; each kernel sets send-lock, and saves its interface's FIFOs. Routers go into all-fall-down mode, "in which each
// message in transition is routed to the 'closest' processing node instead of its destination", where the kernel reads and saves it.
//
// To put back: each kernel restores the FIFOs, and sends what it has saved to the original destinations. These messages are closer to them
// now, and want buffers of the lower levels, so there may be no room for all: the user is restarted to receive, but kept from sending by
// send-lock until no kernel has any left. Otherwise they would become more with every switch.
//
// Assumed: kernels know by the sum of messages put in and taken out that the network is empty, and by a sum that none has any left; each moves a
// message a cycle and network.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "emulated_hw/cm5/network_interface.hpp"

namespace am::cm5 {

/// What the kernel of one node has saved.
struct NodeContext {
  NetworkInterface::Context fifos{};
  BySide<std::deque<Message>> messages;  ///< that it is to put back
  [[nodiscard]] std::size_t size() const noexcept {
    return messages[Side::left].size() + messages[Side::right].size();
  }
};

class Kernels {
 public:
  /// Of the interfaces of the partition's nodes, by number. All of these outlive it.
  Kernels(DataNetworks& networks, std::span<NetworkInterface> interfaces, const Partition& partition)
      : networks_(networks), interfaces_(interfaces), partition_(partition), contexts_(partition.nodes) {}

  /// Users have stopped. What has not been put back yet is part of what is saved.
  void begin_to_save();
  /// Nothing of the partition's is in the networks any more.
  [[nodiscard]] bool have_saved() const;
  /// They have. The networks are free for another program.
  std::vector<NodeContext> end_saving() {
    for (Network& network : networks_.both) network.all_fall_down(partition_, false);
    for (NetworkInterface& node : interfaces_) node.send_lock(false);
    task_ = Task::none;
    return std::exchange(contexts_, std::vector<NodeContext>(partition_.nodes));
  }

  /// Users may run. `keeps_users_from_sending`: until kernels have put back all that they have.
  void begin_to_restore(std::vector<NodeContext> context, bool keeps_users_from_sending = true);
  /// Messages that have not been put back.
  [[nodiscard]] std::size_t left() const {
    std::size_t left = 0;
    for (const NodeContext& context : contexts_) left += context.size();
    return left;
  }

  /// One cycle, before the interfaces'.
  void step();

 private:
  enum class Task : std::uint8_t { none, saves, restores };

  static void save(NetworkInterface& node, NodeContext& context) {
    for (const Side side : sides) {
      if (node.status(side).receive_ok) context.messages[side].push_back(node.take(side));
    }
  }
  void restore(NetworkInterface& node, NodeContext& context);

  DataNetworks& networks_;
  std::span<NetworkInterface> interfaces_;
  Partition partition_;
  std::vector<NodeContext> contexts_;  // by node of the partition
  Task task_ = Task::none;
  bool keeps_users_from_sending_ = true;
};

}  // namespace am::cm5
