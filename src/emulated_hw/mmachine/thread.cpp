#include "emulated_hw/mmachine/thread.hpp"

#include <algorithm>
#include <string>

#include "emulated_hw/mmachine/chip.hpp"

namespace am::mmachine {

namespace {

const char* text_of(SendException why) noexcept {
  switch (why) {
    case SendException::permission_violation:
      return "only the system may use it";
    case SendException::bad_destination:
      return "the destination is not what it takes";
    case SendException::bad_handler:
      return "the handler is none that this thread may name";
  }
  return "";
}

}  // namespace

void Thread::run(Code code, Privilege privilege) {
  if (program_) throw std::logic_error("mmachine: a thread slot runs one program at a time");
  code_ = std::move(code);
  privilege_ = privilege;
  program_.emplace(code_(*this));
  goes_on_ = program_->begin();
  waits_for_ = For::nothing;
  chip_.begins(cluster_, slot_);
}

bool Thread::wait(std::coroutine_handle<> who, For what, unsigned cycles, Cycle not_before) noexcept {
  goes_on_ = who;
  waits_for_ = what;
  cycles_ = cycles;
  left_ = cycles;
  not_before_ = not_before;
  return true;
}

bool Thread::wait_until(std::coroutine_handle<> who, For what, unsigned which) noexcept {
  which_ = which;
  return !is_there(what) && wait(who, what, 0);
}

bool Thread::is_there(For what) const noexcept {
  switch (what) {
    case For::nothing:
      return true;
    case For::condition:
      return full_.test(which_);
    case For::head:
      return input().head_is_there();
    case For::body:
      return input().body_is_there();
    case For::event:
      return chip_.events().is_there();
    case For::cycles:
    case For::operation:
    case For::grant:
      break;
  }
  return false;
}

NetworkInput& Thread::input() const noexcept {
  return chip_.input(cluster_ == Chip::message_cluster[0] ? Priority::p0 : Priority::p1);
}

Word Thread::read(For what) {
  if (what == For::event) return chip_.events().read();
  return what == For::head ? input().head() : input().body();
}

void Thread::fill(unsigned condition) {
  full_.set(condition);
  chip_.wake();
}

void Thread::add_waits(kit::Waits& waits, const std::string& place) const {
  if (!program_ || waits_for_ == For::head || waits_for_ == For::event) return;
  if (left_ != 0 || waits_for_ == For::nothing) return waits.add(place, place + ": computes");
  if (waits_for_ == For::condition)
    return waits.add(place, place + ": waits for condition " + std::to_string(which_));
  if (waits_for_ == For::body) return waits.add(place, place + ": waits for the rest of its message");
  const SendInstruction& what = sending_.what();
  if (what.is_throttled && output().buffers() == 0)
    return waits.add(place, place + ": waits for a buffer, which a message takes until it has been consumed");
  const std::string output = place_of_output(chip_.place(), static_cast<Priority>(what.priority));
  waits.add(place, place + ": waits to send, for room in the network output", {output});
}

void Thread::wake() {
  if (program_ && left_ == 0 && is_there(waits_for_)) go_on();
}

void Thread::issue() {
  if (waits_for_ == For::cycles) stream_.spend(0, 1);
  if (--left_ != 0) return;
  if (waits_for_ == For::grant && !granted_) return;  // the message is made; now it wants to issue
  go_on();
}

void Thread::go_on() {
  goes_on_.resume();
  try {
    if (!program_->has_ended()) return;
  } catch (...) {
    end();
    throw;
  }
  end();
}

void Thread::end() noexcept {
  program_.reset();
  waits_for_ = For::condition;
  left_ = 0;
}

bool Thread::begin_operation(std::coroutine_handle<> who, const Operation& operation) noexcept {
  return !stream_.joins(operation, chip_.now()) && wait(who, For::operation, 1, stream_.earliest(operation));
}

Register Thread::end_operation(const Operation& operation) noexcept {
  return stream_.issue(operation, chip_.now());
}

/// Permissions, and a body that a message can have: 12 words only where it is one that comes back (3.3.2).
std::optional<const char*> Thread::why_not(const Sent& what) const noexcept {
  const SendInstruction& instruction = what.what();
  const Word destination = what.node ? Word{nid_of(*what.node), false} : what.destination;
  if (const auto why = check_send(instruction, privilege_, destination, what.handler)) return text_of(*why);
  if (what.node && !instruction.is_physical) return "a translated message names no node";
  if (what.condition >= conditions) return "there is no such condition register";
  const bool may_be_bounced = instruction.priority == index(Priority::p1);
  if (what.argcount > (may_be_bounced ? most_bounced_body : most_body)) return "too many words";
  return {};
}

bool Thread::begin_send(std::coroutine_handle<> who, const Sent& what, unsigned cycles,
                        Register words) noexcept {
  sending_ = what;
  granted_ = false;
  refused_ = why_not(what);
  if (refused_) return wait(who, For::cycles, 1);
  return wait(who, For::grant, cycles, words.ready);
}

bool Thread::asks_for(Priority priority) const noexcept {
  if (waits_for_ != For::grant || left_ != 0 || granted_) return false;
  const SendInstruction& what = sending_.what();
  return what.priority == index(priority) && chip_.may_issue(what, sending_.argcount);
}

void Thread::grant() noexcept {
  granted_ = true;
  left_ = 1 + chip_.extra_send_cycles();
}

void Thread::end_send() {
  const SendInstruction& what = sending_.what();
  if (refused_) throw Exception(std::string(what.name) + ": " + *refused_);
  full_.reset(sending_.condition);
  end_operation({.unit = what.is_floating ? Unit::falu : Unit::ialu, .slots = send_cycles});
  try {
    chip_.issue(cluster_, slot_, sending_);
  } catch (const std::out_of_range& outside) {
    throw Exception(outside.what());
  }
}

NetworkOutput& Thread::output() const noexcept { return chip_.output(); }

NetworkOutput& Thread::output_for_system() const {
  if (privilege_ != Privilege::system) throw Exception("IGTRD, IGTWR and OMBC: only the system may use them");
  return output();
}

void Thread::clear_gtlb_miss() const noexcept { chip_.clear_miss(); }

void Thread::demand_slot_of(For what) const {
  const bool is_event = what == For::event;
  const bool is_its_cluster =
      is_event ? cluster_ == Chip::event_cluster : std::ranges::count(Chip::message_cluster, cluster_) != 0;
  if (slot_ == Chip::reserved_slot && is_its_cluster) return;
  throw Exception(is_event ? "the event queue: only in the slot of events"
                           : "MsgHead and MsgBody: only in the slots of messages");
}

}  // namespace am::mmachine
