// What a network between hosts carries besides packets: words of which the newest wins, and questions about clocks.
#pragma once

#include <am/types.hpp>
#include <cstdint>

namespace am {

class ControlLane {
 public:
  /// `to` hears that `word` of this node has this value (Listener::heard). Never refused, whatever is full or masked; of several
  /// values that wait on their way the last one is heard. Two words may overtake each other, and what was sent.
  virtual void publish(NodeId to, std::uint32_t word, std::uint64_t value) noexcept = 0;
  /// Asks a node of another host what its CLOCK_MONOTONIC says (Listener::heard_clock). It answers when it makes progress; where it
  /// has gone there is no answer.
  virtual void ask_clock(NodeId peer) noexcept = 0;

 protected:
  ~ControlLane() = default;
};

}  // namespace am
