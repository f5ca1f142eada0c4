#include "emulated_hw/cm5/processor.hpp"

#include <string>

namespace am::cm5 {

void Processor::step() {
  catch_up();
  while (!stores_.empty() && stores_.front().over_at <= counts().all) {
    reaches_interface(stores_.front());
    stores_.pop_front();
  }
  Core::step();
}

void Processor::reaches_interface(const Store& store) {
  const bool is_double = store.words == 2;
  if (store.is_first && is_double) {
    interface_.send_first(store.side, store.header, store.what[0], store.what[1]);
  } else if (store.is_first) {
    interface_.send_first(store.side, store.header, store.what[0]);
  } else {
    interface_.send_data(store.side, store.what[0]);
    if (is_double) interface_.send_data(store.side, store.what[1]);
  }
}

void Processor::add_waits(kit::Waits& waits) const {
  if (has_ended()) return;
  const std::string name = "node " + std::to_string(node());
  waits.add(name, name + ": its program goes on");
}

}  // namespace am::cm5
