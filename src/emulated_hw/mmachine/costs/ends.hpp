// The two ends of a message, which a model makes of its parts: a thread that sends, and a reserved one that is dispatched to handlers.
#pragma once

#include <memory>
#include <utility>

#include "emulated_hw/mmachine/costs/cluster.hpp"
#include "emulated_hw/mmachine/costs/dispatch.hpp"
#include "emulated_hw/mmachine/costs/extraction.hpp"
#include "emulated_hw/mmachine/costs/injection.hpp"

namespace am::mmachine::costs {

class Sender {
 public:
  Sender(const InterfaceModel& model, unsigned missed_entries)
      : injection_(make_injection(model.injection, AddressTranslation(model.translation, missed_entries))) {}

  Arrival send(Cluster& cluster, const Letter& letter) { return injection_->send(cluster, letter); }

 private:
  std::unique_ptr<Injection> injection_;
};

class Receiver {
 public:
  explicit Receiver(const InterfaceModel& model)
      : extraction_(model.extraction), dispatching_(model.dispatch, model.comes_too_late) {}

  /// Dispatches a message to its handler, of which `handler(extraction)` issues the operations, and returns to the dispatcher.
  template <class Handler>
  void handle(Arrival arrival, Handler handler) {
    (void)bring_in(std::move(arrival));
    run(handler);
  }
  /// The two halves of it: until the dispatcher runs, which it may do once the message can be read, at the cycle that this returns;
  Cycle bring_in(Arrival arrival) {
    const Cycle arrived = extraction_.accept(cluster, std::move(arrival));
    dispatching_.bring_in(cluster, arrived);
    return arrived;
  }
  /// and from there on.
  template <class Handler>
  void run(Handler handler) {
    cluster.jump(extraction_.head(cluster));
    handler(extraction_);
    cluster.jump();
  }

  Cluster cluster;

 private:
  Extraction extraction_;
  Dispatching dispatching_;
};

}  // namespace am::mmachine::costs
