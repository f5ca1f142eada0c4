#include "emulated_hw/cm5/network_context.hpp"

#include <utility>

namespace am::cm5 {

void Kernels::begin_to_save() {
  task_ = Task::saves;
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    interfaces_[i].send_lock(true);
    contexts_[i].fifos = interfaces_[i].save();
  }
  for (Network& network : networks_.both) network.all_fall_down(partition_, true);
}

bool Kernels::have_saved() const {
  std::uint64_t launched = 0;
  std::uint64_t taken = 0;
  bool any_left = false;
  for (const NetworkInterface& node : interfaces_) {
    launched += node.launched();
    taken += node.taken();
    for (const Side side : sides) any_left = any_left || node.status(side).receive_ok;
  }
  return launched == taken && !any_left;
}

void Kernels::begin_to_restore(std::vector<NodeContext> context, bool keeps_users_from_sending) {
  contexts_ = std::move(context);
  keeps_users_from_sending_ = keeps_users_from_sending;
  task_ = Task::restores;
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    interfaces_[i].restore(contexts_[i].fifos);
    interfaces_[i].send_lock(keeps_users_from_sending);
  }
}

void Kernels::step() {
  if (task_ == Task::none) return;
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    if (task_ == Task::saves) {
      save(interfaces_[i], contexts_[i]);
    } else if (contexts_[i].size() != 0) {
      restore(interfaces_[i], contexts_[i]);
    }
  }
  if (task_ == Task::saves || left() != 0) return;
  task_ = Task::none;
  for (NetworkInterface& node : interfaces_) node.send_lock(false);
}

/// By the registers, as any kernel's message, when there is space. Where the user may send, too, the lock is set for that long.
void Kernels::restore(NetworkInterface& node, NodeContext& context) {
  for (const Side side : sides) {
    std::deque<Message>& messages = context.messages[side];
    if (messages.empty()) continue;
    const Message& first = messages.front();
    if (node.status(side).send_space <= first.length) continue;
    node.send_lock(true);
    node.send_first(side, {first.length, first.tag}, first.to, By::kernel);
    for (unsigned i = 0; i < first.length; ++i) node.send_data(side, first.words[i], By::kernel);
    if (node.status(side, By::kernel).send_ok) messages.pop_front();
  }
  if (!keeps_users_from_sending_) node.send_lock(false);
}

}  // namespace am::cm5
