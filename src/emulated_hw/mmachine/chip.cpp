#include "emulated_hw/mmachine/chip.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace am::mmachine {

namespace {

constexpr unsigned words_of_send = 2;  // HandlerIP and DestAddr cross the C-switch before the body

}  // namespace

Chip::Chip(NodePlace here, NodePlace last, const Cycle& now)
    : here_(here),
      now_(now),
      output_(here, last),
      inputs_{NetworkInput(Priority::p0, parity_faults_), NetworkInput(Priority::p1, parity_faults_)} {
  for (unsigned cluster = 0; cluster < clusters; ++cluster) {
    for (unsigned slot = 0; slot < slots; ++slot)
      threads_[cluster][slot] = std::make_unique<Thread>(*this, cluster, slot);
  }
  for (const Priority priority : {Priority::p0, Priority::p1}) {
    thread(message_cluster[index(priority)], reserved_slot)
        .run([this, priority](Thread& slot) { return dispatch(slot, priority); }, Privilege::system);
  }
}

Program Chip::dispatch(Thread& thread, Priority priority) {
  for (;;) {
    const Word head = co_await thread.msg_head();
    co_await thread.cycles(jump_cycles);
    ++counts_.handled[index(priority)];
    try {
      const Thread::Code& code = enter(thread, head);
      co_await code(thread);
    } catch (const Exception& exception) {
      ++counts_.exceptions;
      last_exception_ = exception.what();
    }
  }
}

const Thread::Code* Chip::code_at(std::uint64_t address) const noexcept {
  const auto found = code_.find(address);
  return found == code_.end() ? nullptr : &found->second;
}

/// A jump there, with the privilege that its pointer gives.
const Thread::Code& Chip::enter(Thread& thread, const Word& head) const {
  const Jumped to = jump(Privilege::system, head);
  if (to.violation) throw Exception("a message's handler cannot be jumped to");
  const std::uint64_t address = GuardedPointer::of(head)->address();
  const Thread::Code* const code = code_at(address);
  if (code == nullptr) throw Exception("no code at " + std::to_string(address));
  thread.set_privilege(to.privilege);
  return *code;
}

void Chip::step() {
  for (NetworkInput& input : inputs_) input.settle();
  if (extra_cycles_ != 0) take_what_was_delayed();
  if (!filling_.empty() || !missed_.empty()) take_what_is_due();
  kit::for_each(running_, [&](unsigned place) {
    thread_at(place).wake();
    look_whether_ended(place);
  });
  for (const Priority priority : {Priority::p0, Priority::p1}) give_output(priority);
  give_cycles();
}

bool Chip::has_nothing_to_do() const noexcept {
  if (!filling_.empty() || !missed_.empty() || !delayed_[0].empty() || !delayed_[1].empty()) return false;
  bool all_sleep = !inputs_[0].has_to_settle() && !inputs_[1].has_to_settle();
  kit::for_each(running_, [&](unsigned place) { all_sleep = all_sleep && thread_at(place).sleeps(); });
  return all_sleep;
}

bool Chip::is_busy_for(Cycle cycles) const noexcept {
  bool is_busy = false;
  kit::for_each(running_, [&](unsigned place) { is_busy = is_busy || thread_at(place).is_busy_for(cycles); });
  return is_busy;
}

void Chip::add_waits(kit::Waits& waits) const {
  kit::for_each(running_, [&](unsigned place) {
    std::string name = to_text(here_) + " cluster " + std::to_string(place / slots) + " slot " +
                       std::to_string(place % slots);
    for (const Priority priority : {Priority::p0, Priority::p1}) {
      if (place == message_cluster[index(priority)] * slots + reserved_slot)
        name = place_of_input(here_, priority);
    }
    thread_at(place).add_waits(waits, name);
  });
}

void Chip::deliver(Priority priority, const Flit& flit) {
  wake();
  if (extra_cycles_ == 0) return inputs_[index(priority)].take(flit);
  delayed_[index(priority)].push_back({now_ + extra_cycles_, flit});
}

void Chip::take_what_was_delayed() {
  for (unsigned priority = 0; priority < priorities; ++priority) {
    auto& line = delayed_[priority];
    if (line.empty() || line.front().at >= now_ || !inputs_[priority].has_room()) continue;
    inputs_[priority].take(line.front().flit);
    line.pop_front();
  }
}

void Chip::take_what_is_due() {
  std::erase_if(filling_, [this](const Filling& one) {
    if (one.at > now_) return false;
    one.thread->fill(one.condition);
    return true;
  });
  std::erase_if(missed_, [this](const Missed& one) {
    if (one.at > now_ || !events_.has_room()) return false;
    events_.put(one.what);
    return true;
  });
}

void Chip::clear_miss() noexcept {
  const auto is_ordered = [](const Missed& one) { return one.what.ordered; };
  if (!events_.has_ordered() && std::ranges::none_of(missed_, is_ordered)) output_.clear_miss();
}

void Chip::give_output(Priority priority) {
  kit::Requests asking = 0, among = 0;
  kit::for_each(running_, [&](unsigned place) {
    if (!thread_at(place).asks_for(priority)) return;
    asking |= kit::request(place);
    among |= kit::request(place / slots);
  });
  if (asking == 0) return;
  const std::size_t p = index(priority);
  const unsigned cluster = turn_of_cluster_[p].pick(among);
  turn_of_cluster_[p].had_its_turn(cluster);
  const unsigned place = turn_of_sender_[p][cluster].pick(asking & of_cluster(cluster));
  turn_of_sender_[p][cluster].had_its_turn(place);
  reserved_[p] = true;
  thread_at(place).grant();
}

void Chip::give_cycles() {
  kit::Requests ready = 0;
  kit::for_each(running_, [&](unsigned place) {
    if (thread_at(place).can_issue(now_)) ready |= kit::request(place);
  });
  for (unsigned cluster = 0; cluster < clusters && ready != 0; ++cluster) {
    if ((ready & of_cluster(cluster)) == 0) continue;
    const unsigned place = turn_of_thread_[cluster].pick(ready & of_cluster(cluster));
    turn_of_thread_[cluster].had_its_turn(place);
    thread_at(place).issue();
    look_whether_ended(place);
  }
}

void Chip::look_whether_ended(unsigned place) {
  if (!thread_at(place).has_ended()) return;
  running_ &= ~kit::request(place);
  if (when_ended_) when_ended_();
}

void Chip::issue(unsigned cluster, unsigned slot, const NetworkOutput::Sending& sending, unsigned condition) {
  reserved_[sending.what->priority] = false;
  if (const auto filled = output_.issue(sending, now_)) {
    ++counts_.sent;
    filling_.push_back({now_ + *filled, threads_[cluster][slot].get(), condition});
    return network_.ring();
  }
  ++counts_.gtlb_misses;
  missed_.push_back({.at = now_ + words_of_send + sending.argcount + NetworkOutput::event_cycles,
                     .what = {.ordered = sending.what->is_ordered,
                              .took_buffer = sending.what->is_throttled,
                              .cluster = static_cast<std::uint8_t>(cluster),
                              .slot = static_cast<std::uint8_t>(slot),
                              .floating = sending.what->is_floating,
                              .argcount = sending.argcount,
                              .condition = static_cast<std::uint8_t>(condition),
                              .handler = sending.handler,
                              .destination = sending.destination}});
}

}  // namespace am::mmachine
