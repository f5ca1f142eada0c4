// host::wake and the heavy fence as steps of a model, one access each. What sleeps and what wakes is the models' own
// (unit/transports/shm/doorbell_model_test.cpp, unit/core/together/barrier_model_test.cpp).
#pragma once

#include "support/model_access.hpp"

namespace modelled {

/// host::wake (src/host/bell.cpp), by one thread for one sleeper.
class Wake {
 public:
  /// One step; true when it was the last.
  bool step(test::Access& access, test::Location asleep, unsigned sleeper) {
    switch (at_++) {
      case 0:  // if (asleep.load(relaxed) == 0) return
        return end(access.load(asleep, std::memory_order_relaxed) == 0);
      case 1:  // if (asleep.exchange(0, seq_cst) != 0)
        return end(access.exchange(asleep, 0, std::memory_order_seq_cst) == 0);
      default:  // FUTEX_WAKE
        access.futex_wake(sleeper);
        return end(true);
    }
  }
  [[nodiscard]] test::Word state() const noexcept { return at_; }

 private:
  bool end(bool ends) noexcept {
    if (ends) at_ = 0;
    return ends;
  }
  std::uint8_t at_ = 0;
};

/// heavy_fence() (src/host/heavy_fence.cpp), or, broken, what it is where membarrier(2) does not work: this
/// thread's own full fence, after which sleeps are kept short.
inline void heavy_fence(test::Access& access, bool works) {
  if (works) {
    access.heavy_fence();
  } else {
    access.full_fence();
  }
}

}  // namespace modelled
