#include "emulated_hw/mmachine/costs/dispatch.hpp"

namespace am::mmachine::costs {

namespace {

void store_registers(Cluster& cluster, unsigned count) noexcept {
  Register frame;
  for (unsigned i = 0; i < count; ++i) {
    (void)cluster.store(frame, {});
    frame = cluster.lea(frame);
  }
}

void load_registers(Cluster& cluster, unsigned count) noexcept {
  Register frame;
  for (unsigned i = 0; i < count; ++i) {
    (void)cluster.load(frame);
    frame = cluster.lea(frame);
  }
}

}  // namespace

void Dispatching::bring_in(Cluster& cluster, Cycle arrived) noexcept {
  if (already_in(cluster, arrived)) return;
  if (in_) load_registers(cluster, how_ == Dispatch::polled ? polling_registers : interrupt_registers);
  cluster.wait_until(arrived);
  if (how_ == Dispatch::polled) {
    if (comes_too_late_) cluster.spend(missed_poll_cycles, 0);
    (void)cluster.compute();  // finds it
    cluster.jump();
    store_registers(cluster, polling_registers);
  } else {
    cluster.jump();  // to the interrupt's routine
    store_registers(cluster, interrupt_registers);
    load_registers(cluster, interrupt_registers);
  }
  cluster.jump();  // to the dispatcher
  in_ = true;
}

}  // namespace am::mmachine::costs
