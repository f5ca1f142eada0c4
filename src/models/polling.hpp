// For models whose handlers run in polls and nowhere else (GAM, AM-II): their programs were written for that, with plain globals
// and no locks. In the polling mode of libam nothing is to be done. In the other modes the node's arrivals are masked, but for the
// time that the program is inside a call that polls, and libam's lock is held during it: so what arrives runs there, on the
// program's own thread, and not in the handler thread or in the middle of the computation.
//
// The node's own thread only, in its computation.
#pragma once

#include <am/node.hpp>

#include <cstdint>
#include <thread>

namespace am::models {

/// Whether messages are taken.
inline void take_messages(Node& node, bool yes) noexcept {
  node.enable_event(Event::high_message, yes);
  node.enable_event(Event::low_message, yes);
}

/// When a model starts on a node: from now on messages are taken inside polling(...) only.
inline void begin_polling(Node& node) noexcept {
  if (node.dispatch() != Dispatch::poll) take_messages(node, false);
}

/// Runs f(), which may poll and wait. wait_until holds the events off on both sides of each poll in it.
template <class F>
void polling(Node& node, F&& f) {
  if (node.dispatch() == Dispatch::poll) return f();
  struct Open {
    explicit Open(Node& its_node) noexcept : node(its_node) { take_messages(node, true); }
    ~Open() { take_messages(node, false); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    Node& node;
  };
  node.wait_until([&] {
    const Open open(node);
    f();
    return true;
  });
}

/// A poll by a program that polls until something has come: one that finds nothing for long lets others run, as waits do. On a
/// machine with more nodes than processors the one that would answer may be waiting for this processor.
class PollOrYield {
 public:
  /// Returns how many events ran.
  std::size_t operator()(Node& node) {
    std::size_t ran = 0;
    polling(node, [&] { ran = node.poll(); });
    if (ran != 0) {
      idle_ = 0;
    } else if (++idle_ > patience) {
      std::this_thread::yield();
    }
    return ran;
  }

 private:
  static constexpr std::uint32_t patience = 2000;  // some 40 us
  std::uint32_t idle_ = 0;
};

}  // namespace am::models
