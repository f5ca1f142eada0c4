// An empty message there and an empty answer back, between two nodes of an M-Machine that do nothing else. What Table 6.4 calls PING also makes
// the first and stores the answer: costs/on_machine.cpp.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 1.3, 3.1, 7.2.2.
#pragma once

#include "emulated_hw/mmachine/machine.hpp"

namespace am::mmachine {

/// Cycles from the beginning.
struct PingTimes {
  Cycle sent = 0;  ///< SEND has issued
  Cycle came = 0;  ///< MsgHead is there
  Cycle handled =
      0;  ///< dispatched: the handler's first instruction is next, and a word that it stores with it is there
  Cycle answered = 0;  ///< the same of the answer
};
[[nodiscard]] PingTimes ping(const Mesh::Shape& shape, NodeNumber from, NodeNumber to);

}  // namespace am::mmachine
