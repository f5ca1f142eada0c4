// Rings the node's bell when a descriptor of one of its networks becomes readable (Transport::wake_fd): a node sleeps on its
// bell, which others of its host ring as well, so somebody else has to wait for descriptors.
//
// A thread of its own, which waits for them only once the node has been armed since it last rang, and costs nothing else. It
// rings once; a ring that comes late finds no alarm, or one that was set since, and a ring for no reason is free.
#pragma once

#include <poll.h>
#include <am/types.hpp>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/node/own_thread.hpp"
#include "host/board.hpp"

namespace am::core {

class DescriptorWatch {
 public:
  /// Throws am::Error when the system gives no thread, or no descriptor.
  DescriptorWatch(const host::Board& board, NodeId node, const std::vector<int>& descriptors);
  ~DescriptorWatch();
  DescriptorWatch(const DescriptorWatch&) = delete;
  DescriptorWatch& operator=(const DescriptorWatch&) = delete;

  /// The node is armed: rings once one is readable, also if it is already.
  void watch() noexcept;

 private:
  enum class State : std::uint32_t { idle, watching, ending };
  void run() noexcept;

  const host::Board& board_;
  const NodeId node_;
  struct Event {  // of the system; readable when the thread is to end
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    int descriptor;
  };
  const Event end_;
  std::vector<pollfd> watched_;  // the descriptors, and that one
  std::atomic<State> state_ = State::idle;
  OwnThread thread_;  // last: it uses all of the above
};

}  // namespace am::core
