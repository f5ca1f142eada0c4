#include "emulated_hw/mmachine/network_output.hpp"

#include <stdexcept>
#include <string>

namespace am::mmachine {

bool NetworkOutput::may_issue(const SendInstruction& what, unsigned argcount, Cycle now) const noexcept {
  const bool available =
      busy_until_[what.priority] <= now && queues_[what.priority].has_room(words_before_body + argcount);
  const bool throttled = what.is_throttled && buffers_ == 0;
  const bool behind_a_miss = what.is_ordered && !what.is_physical && missed_;
  return available && !throttled && !behind_a_miss;
}

std::optional<NodePlace> NetworkOutput::place_of(const Sending& sending) const noexcept {
  if (sending.node) return sending.node;
  if (sending.what->is_physical) return physical_destination(sending.destination);
  const auto pointer = GuardedPointer::of(sending.destination);
  if (!pointer) return {};
  const auto found = gtlb_.translate(pointer->address());
  return found ? std::optional(found->node) : std::nullopt;
}

std::optional<Cycle> NetworkOutput::issue(const Sending& sending, Cycle now) {
  const SendInstruction& what = *sending.what;
  const std::optional<NodePlace> to = place_of(sending);
  if (to && (to->x > last_.x || to->y > last_.y))
    throw std::out_of_range("mmachine: a message to " + to_text(*to) + ", in a mesh that ends at " +
                            to_text(last_));
  const unsigned words = words_before_body - 1 + sending.argcount;  // the header is made here
  busy_until_[what.priority] = now + words;
  if (what.is_throttled) --buffers_;
  if (!to) {
    missed_ = true;
    busy_until_[what.priority] += event_cycles;
    return {};
  }
  const auto priority = static_cast<Priority>(what.priority);
  Message message;
  message.header = {.destination = *to,
                    .sender = here_,
                    .argcount = sending.argcount,
                    .ordered = what.is_ordered,
                    .priority = priority};
  message.handler = injected(sending.handler);
  message.address = sending.destination;
  message.body = sending.body;
  queues_[what.priority].put(message, now + output_cycles);
  return words + 1;
}

}  // namespace am::mmachine
