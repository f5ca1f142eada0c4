#include "emulated_hw/t1/network_interface.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "emulated_hw/t1/nistat.hpp"

namespace am::t1 {

namespace {

std::uint32_t bit_if(bool set, std::uint32_t bit) noexcept { return set ? bit : 0; }

}  // namespace

// -- registers (A.2) --------------------------------------------------------------------------------------------------

std::size_t NetworkInterface::place_of(Register which, const char* instruction) {
  using enum Register;
  const auto number = static_cast<std::size_t>(which);
  if (which == timeh || which == timec || which == count || (which >= enable && which <= inh)) return number;
  throw InvalidInstruction(instruction + std::string(": the network interface has no register ") +
                           std::to_string(number));
}

Word NetworkInterface::cfc2(Register which) const {
  switch (which) {
    case Register::enable:
      return bit_if(ee_, 1);
    case Register::nistat:
      return status();
    case Register::inh:
      return message().inh;
    default:
      return registers_[place_of(which, "CFC2")];
  }
}

void NetworkInterface::ctc2(Register which, Word value) {
  processor_.ring();
  switch (which) {
    case Register::count:
    case Register::niid:
    case Register::inh:
      return;
    case Register::enable:
      ee_ = (value & 1) != 0;
      return;
    case Register::nistat:
      return set_status(value);
    default:
      registers_[place_of(which, "CTC2")] = value;
  }
  if (which != Register::timec) return;
  timelet_wait_ = until_timelet();
  timelet_pending_ = false;
  timelet_awaited_ = true;
}

/// The EP field. A.2.6 says that op is lpa and hpa, A.9.2 that it is lpa alone: the former.
std::uint32_t NetworkInterface::pending() const noexcept {
  return bit_if(is_event(Priority::high), nistat::hpmp) | bit_if(is_event(Priority::low), nistat::lpmp) |
         bit_if(accepts(Priority::low) && accepts(Priority::high), nistat::op) |
         bit_if(timelet_pending_, nistat::tp);
}

Word NetworkInterface::status() const noexcept {
  const std::uint32_t some = pending();
  return bit_if((some >> nistat::masks_below_pending & masks_) != 0, nistat::pend) |
         bit_if(nicond_, nistat::nicond) | bit_if(onicond_, nistat::onicond) | some | masks_ |
         bit_if(lpee_, nistat::lpee) | bit_if(accepts(Priority::high), nistat::hpa) |
         bit_if(accepts(Priority::low), nistat::lpa) | bit_if(ame_, nistat::ame) | message().about;
}

void NetworkInterface::set_status(Word value) noexcept {
  nicond_ = (value & nistat::nicond) != 0;
  onicond_ = (value & nistat::onicond) != 0;
  masks_ = value & nistat::masks;
  lpee_ = (value & nistat::lpee) != 0;
  ame_ = (value & nistat::ame) != 0;
}

// -- sends (A.6, A.8.3) -----------------------------------------------------------------------------------------------

bool NetworkInterface::send(const Send& what, std::uint32_t destination, Address handler, const Vector& vd,
                            unsigned vlr) {
  if (what.scalars > most_scalars)
    throw InvalidInstruction("SEND: " + std::to_string(what.scalars) +
                             " scalar words, at most 5 are encoded");
  if (what.vector && vlr > most_vector)
    throw InvalidInstruction("SEND: a vector of " + std::to_string(vlr) + " words, a register has 32");
  if ((handler & 3) != 0)
    throw HandlerAddressError("SEND: the handler's address " + std::to_string(handler) +
                              " is not that of a word");
  nicond_ = accepts(what.priority);
  if (!nicond_) return false;
  Message& message = outgoing_[index(what.priority)].emplace();
  message.destination = destination;
  message.handler = handler;
  message.priority = what.priority;
  message.multicast = what.multicast;
  message.kernel = kernel_;
  message.scalars = static_cast<std::uint8_t>(what.scalars);
  message.vector = static_cast<std::uint8_t>(what.vector ? vlr : 0);
  std::copy_n(visible().data.begin(), message.scalars, message.scalar.begin());
  std::copy_n(vd.begin(), message.vector, message.vector_words.begin());
  network_.ring();
  return true;
}

// -- the network, and handlers in hardware (3.9) ------------------------------------------------------------------------

void NetworkInterface::gone(Priority priority) noexcept {
  const bool was_answer = is_turn_of_answer(priority);
  (was_answer ? answer_ : outgoing_[index(priority)]).reset();
  if (priority == Priority::high) answered_last_ = was_answer;
  processor_.ring();
}

const Message* NetworkInterface::for_hardware(Priority priority) const noexcept {
  const std::optional<Message>& waiting = incoming_[index(priority)];
  const bool is_theirs = has_hardware_handlers_ && ame_ && waiting && waiting->handler >= reserved_handlers &&
                         refused_[index(priority)].empty();
  return is_theirs ? &*waiting : nullptr;
}

// -- events (A.9) -----------------------------------------------------------------------------------------------------

std::optional<Event> NetworkInterface::next_event() const noexcept {
  if (!ee_) return std::nullopt;
  const std::uint32_t enabled = pending() & masks_ << nistat::masks_below_pending;
  if ((enabled & nistat::hpmp) != 0) return Event::high_message;
  if (!lpee_) return std::nullopt;
  if ((enabled & nistat::lpmp) != 0) return Event::low_message;
  if ((enabled & nistat::tp) != 0) return Event::timelet;
  if ((enabled & nistat::op) != 0) return Event::outlet;
  return std::nullopt;
}

NetworkInterface::Entry NetworkInterface::enter(Address pc) {
  const std::optional<Event> event = next_event();
  if (!event) throw InvalidInstruction("no event is to come");
  if (*event == Event::high_message) {
    at(Register::hpepc) = pc;
    ee_ = false;
    return entry(*event, begin_message(Priority::high), refused_[index(Priority::high)]);
  }
  at(Register::lpepc) = pc;
  onicond_ = nicond_;
  lpee_ = false;
  running_[low] = {};
  if (*event == Event::low_message)
    return entry(*event, begin_message(Priority::low), refused_[index(Priority::low)]);
  if (*event == Event::outlet) return entry(*event, at(Register::outh));
  timelet_pending_ = false;
  timelet_awaited_ = false;
  return entry(*event, at(Register::timeh));
}

/// What it carries goes into the registers of its context, whose other words and temporaries stay what they are.
Address NetworkInterface::begin_message(Priority priority) {
  std::optional<Message>& waiting = incoming_[index(priority)];
  const Level context = priority == Priority::high ? high : low;
  RegisterSet& set = sets_[context];
  std::copy_n(waiting->scalar.begin(), waiting->scalars, set.data.begin());
  std::copy_n(waiting->vector_words.begin(), waiting->vector, set.vr1.begin());
  running_[context] = {std::exchange(kernel_, waiting->kernel), waiting->handler,
                       bit_if(waiting->multicast, nistat::mcst) |
                           bit_if(priority == Priority::high, nistat::pri) |
                           nistat::lengths(waiting->scalars, waiting->vector)};
  const Address handler = ame_ ? waiting->handler : at(Register::dmh);
  waiting.reset();
  return handler;
}

Address NetworkInterface::hret() {
  const Level leaving = level();
  if (leaving == computation)
    throw InvalidInstruction("HRET: EE and LPEE are set, so no event is to be left");
  const Running left = std::exchange(running_[leaving], {});
  if (left.kernel) kernel_ = *left.kernel;
  if (leaving == high) {
    ee_ = true;
    return at(Register::hpepc);
  }
  lpee_ = true;
  nicond_ = onicond_;
  return at(Register::lpepc);
}

}  // namespace am::t1
