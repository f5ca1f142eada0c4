#include "core/node/descriptor_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>

#include "host/bell.hpp"
#include "host/own_descriptor.hpp"
#include "host/system_error.hpp"

namespace am::core {

namespace {

std::vector<pollfd> readable(const std::vector<int>& descriptors, int end) {
  std::vector<pollfd> all;
  all.reserve(descriptors.size() + 1);
  for (const int descriptor : descriptors) all.push_back({descriptor, POLLIN, 0});
  all.push_back({end, POLLIN, 0});
  return all;
}

}  // namespace

DescriptorWatch::Event::Event() : descriptor(host::own_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (descriptor < 0) throw host::system_error("wait for the descriptors of a network", "raise ulimit -n");
}

DescriptorWatch::Event::~Event() { close(descriptor); }

DescriptorWatch::DescriptorWatch(const host::Board& board, NodeId node, const std::vector<int>& descriptors)
    : board_(board),
      node_(node),
      watched_(readable(descriptors, end_.descriptor)),
      thread_(
          "am wake " + std::to_string(node), [this] { run(); }, "choose AM_TRANSPORT=shm") {}

DescriptorWatch::~DescriptorWatch() {
  if (!thread_.is_in_this_process()) return;
  state_.store(State::ending, std::memory_order_seq_cst);
  state_.notify_one();
  eventfd_write(end_.descriptor, 1);
}

/// Sequentially consistent, as what run() does: either this finds `idle` and wakes the thread, or the thread, which has not yet
/// gone idle, rings after this.
void DescriptorWatch::watch() noexcept {
  if (state_.exchange(State::watching, std::memory_order_seq_cst) == State::idle) state_.notify_one();
}

void DescriptorWatch::run() noexcept {
  for (;;) {
    state_.wait(State::idle, std::memory_order_seq_cst);
    if (state_.load(std::memory_order_seq_cst) == State::ending) return;
    poll(watched_.data(), watched_.size(), -1);  // a signal is no reason to ring, but no harm either
    State watching = State::watching;
    if (!state_.compare_exchange_strong(watching, State::idle, std::memory_order_seq_cst)) return;  // ending
    host::wake(board_, node_);
  }
}

}  // namespace am::core
