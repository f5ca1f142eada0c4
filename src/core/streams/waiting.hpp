// How an end of a stream waits for the other one.
#pragma once

#include <am/impl/waiter.hpp>

#include "core/node/engine.hpp"
#include "core/streams/streams.hpp"
#include "host/heavy_fence.hpp"

namespace am::core {

/// Whom the node waits for, on its card.
class WaitsFor {
 public:
  explicit WaitsFor(host::NodeCard& card) noexcept
      : card_(card), before_(card.waits_for.load(std::memory_order_relaxed)) {}
  ~WaitsFor() { card_.waits_for.store(before_, std::memory_order_relaxed); }
  void say(NodeId needed) noexcept {
    if (card_.waits_for.load(std::memory_order_relaxed) != needed + 1)
      card_.waits_for.store(needed + 1, std::memory_order_relaxed);
  }
  WaitsFor(const WaitsFor&) = delete;
  WaitsFor& operator=(const WaitsFor&) = delete;

 private:
  host::NodeCard& card_;
  const std::uint32_t before_;
};

template <class Needed, class Sleeps, class Holds>
void Streams::wait(const char* what, const Needed& needed, const Sleeps& sleeps, const Holds& holds) {
  engine_.must_compute(what);
  WaitsFor waits_for(engine_.card());
  impl::Waiter waiter(engine_, what);
  std::atomic<std::uint32_t>* set = nullptr;  // the flag, by this wait
  while (!holds()) {
    waits_for.say(needed());
    if (engine_.poll() != 0) {
      waiter.worked();
      continue;
    }
    std::atomic<std::uint32_t>* const flag = waiter.sleeps_next() ? sleeps() : nullptr;
    if (flag != nullptr && flag->exchange(1, std::memory_order_release) == 0) {
      set = flag;
      host::heavy_fence();  // what the other end did before it can see the flag is found now
    } else {
      waiter.idle();
    }
  }
  // Of a ring that goes on in another one nothing is touched any more.
  if (set != nullptr && set == sleeps()) set->store(0, std::memory_order_relaxed);
}

}  // namespace am::core
