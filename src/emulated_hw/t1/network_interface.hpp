// The network interface of one T1, as its processor and its router see it (T1 report, sections 3.3 to 3.9 and appendix A): the
// registers, the eight sends and their multicast forms, and what happens to the processor at an event and at HRET. It knows no time
// but tick(), and no network: a substrate takes messages out of it and puts messages in.
//
// The processor: before each instruction it asks next_event(); at an event it calls enter() with its PC and goes on at the address
// that it gets; HRET is hret(). What a figure of the report shows that is lost from its text is built from the words around it:
//
//   Figure 16, the state transitions    an event of low priority clears LPEE, one of high priority EE (A.9.1 to A.9.3);
//                                       HRET sets the one of the event that runs: EE if it is clear, else LPEE (A.7)
//   Figures 6 to 8, 17                  nistat.hpp
//
// Assumed, where the report leaves it to an implementation: one message of each priority waits to go out and one to be handled;
// after reset EE and all masks are clear, LPEE and ame set; control registers are bypassed, so that the hazards of A.10 do not exist;
// kernel space begins at 0x80000000, as in MIPS; `rd` is the number of the node; Count is not written.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/text.hpp"
#include "emulated_hw/t1/message.hpp"
#include "emulated_hw/t1/nistat.hpp"

namespace am::t1 {

/// Table 1.
enum class Register : std::uint8_t {
  timeh = 6,
  timec = 7,
  count = 9,
  enable = 18,
  nistat = 19,
  lpepc = 20,
  hpepc = 21,
  niid = 22,
  dmh = 23,
  outh = 24,
  inh = 25,
};

/// What an instruction may raise. The processor's state is as before it.
struct Exception : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct HandlerAddressError : Exception {  ///< the low bits of a SEND's handler are not zero (A.6)
  using Exception::Exception;
};
struct InvalidInstruction
    : Exception {  ///< SEND with n > 5 (A.6), a register that is not there, HRET without an event
  using Exception::Exception;
};

/// The registers that each context has a copy of (Figure 1).
struct RegisterSet {
  std::array<Word, most_scalars> data{};  ///< $4, $5, $6, $7, $29
  std::array<Word, 2> temporary{};        ///< $8, $9
  Vector vr1{};
};

/// Which SEND: SENDn, .V, H, H.V, and the same as MCST (A.6, A.8.3).
struct Send {
  unsigned scalars = 0;
  bool vector = false;
  Priority priority = Priority::low;
  bool multicast = false;
};

/// The place in kit::Waits of a message that a node's processor has sent, and the router has not taken.
[[nodiscard]] inline std::string place_in_interface(kit::NodeNumber node, Priority priority) {
  return kit::text_of("node ", node, " interface ", name_of(priority));
}

enum class Event : std::uint8_t { high_message, low_message, timelet, outlet };

class NetworkInterface {
 public:
  static constexpr Address kernel_space = 0x80000000;       ///< and above: the kernel's code and data
  static constexpr Address reserved_handlers = 0xffff0000;  ///< and above: "hardware-interpreted" (3.9)

  explicit NetworkInterface(std::uint32_t node) noexcept {
    at(Register::niid) = node & ((1u << most_node_bits) - 1);
  }

  // -- the processor's instructions

  /// CFC2. Throws InvalidInstruction where there is no such register.
  [[nodiscard]] Word cfc2(Register which) const {
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
  /// CTC2. What is read-only stays as it is. Throws as cfc2.
  void ctc2(Register which, Word value) {
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
  /// The condition that BC2T and BC2F test.
  [[nodiscard]] bool nicond() const noexcept { return nicond_; }
  /// SEND and MCST: the first words of the register set that is visible, and of a vector register as many as `vlr` says. False, and
  /// nicond is clear, when the network does not accept it: nothing has happened. Throws HandlerAddressError, InvalidInstruction.
  bool send(const Send& what, std::uint32_t destination, Address handler, const Vector& vd = {},
            unsigned vlr = most_vector) {
    if (what.scalars > most_scalars)
      throw InvalidInstruction(kit::text_of("SEND: ", what.scalars, " scalar words, at most 5 are encoded"));
    if (what.vector && vlr > most_vector)
      throw InvalidInstruction(kit::text_of("SEND: a vector of ", vlr, " words, a register has 32"));
    if ((handler & 3) != 0)
      throw HandlerAddressError(
          kit::text_of("SEND: the handler's address ", handler, " is not that of a word"));
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
  /// HRET: where to go on. Throws InvalidInstruction when no event is to be left, by EE and LPEE.
  Address hret() {
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

  /// $4 to $9, $29 and $vr1 as they are visible, by EE and LPEE (A.10).
  [[nodiscard]] RegisterSet& visible() noexcept { return sets_[level()]; }
  /// KU_c: whether the processor is in kernel mode.
  [[nodiscard]] bool in_kernel() const noexcept { return kernel_; }
  void set_kernel(bool yes) noexcept { kernel_ = yes; }

  // -- events

  /// The event that is to come before the next instruction, if any: high messages, then low ones, timelets, outlets (A.9).
  [[nodiscard]] std::optional<Event> next_event() const noexcept {
    if (!ee_) return std::nullopt;
    const std::uint32_t enabled = pending() & masks_ << nistat::masks_below_pending;
    if ((enabled & nistat::hpmp) != 0) return Event::high_message;
    if (!lpee_) return std::nullopt;
    if ((enabled & nistat::lpmp) != 0) return Event::low_message;
    if ((enabled & nistat::tp) != 0) return Event::timelet;
    if ((enabled & nistat::op) != 0) return Event::outlet;
    return std::nullopt;
  }
  struct Entry {
    Event event;
    Address handler;
    bool
        address_error;  ///< it is not aligned, or in the kernel and the mode is user (3.7, A.2): raised by its first fetch
    std::string_view
        refused{};  ///< why the hardware did not handle the message, if it is one that it might have
  };
  /// The event that next_event() says begins: `pc` is the instruction to go on with afterwards.
  Entry enter(Address pc) {
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

  // -- the clock and the network

  /// Count is so much more. At the value of timec a timelet becomes pending (A.2.2).
  void tick(std::uint64_t cycles = 1) noexcept {
    if (until_timelet() <= cycles) timelet_pending_ = true;
    at(Register::count) += static_cast<Word>(cycles);
  }
  /// Cycles until that.
  [[nodiscard]] std::uint64_t until_timelet() const noexcept {
    return std::uint64_t{at(Register::timec) - at(Register::count) - 1u} + 1;
  }
  /// The same when timec was written.
  [[nodiscard]] std::uint64_t timelet_wait() const noexcept { return timelet_wait_; }
  /// It was asked for one that has not begun.
  [[nodiscard]] bool awaits_timelet() const noexcept { return timelet_awaited_; }
  /// What is rung when a message waits to go out; and when something has happened, but by time, that may bring an event.
  void rings(kit::NodeBell network) noexcept { network_ = network; }
  void rings_processor(kit::NodeBell processor) noexcept { processor_ = processor; }
  [[nodiscard]] bool accepts(Priority priority) const noexcept {
    return !outgoing_[index(priority)].has_value();
  }
  /// What waits to go out; the network takes it when it has gone.
  [[nodiscard]] const std::optional<Message>& outgoing(Priority priority) const noexcept {
    return is_turn_of_answer(priority) ? answer_ : outgoing_[index(priority)];
  }
  void gone(Priority priority) noexcept {
    const bool was_answer = is_turn_of_answer(priority);
    (was_answer ? answer_ : outgoing_[index(priority)]).reset();
    if (priority == Priority::high) answered_last_ = was_answer;
    processor_.ring();
  }
  /// Whether a message may be delivered: the one before has been begun with.
  [[nodiscard]] bool has_room(Priority priority) const noexcept {
    return !incoming_[index(priority)].has_value();
  }
  /// A whole message has come. There is room for it.
  void deliver(const Message& message) noexcept {
    incoming_[index(message.priority)] = message;
    refused_[index(message.priority)] = {};
    processor_.ring();
  }

  // -- handlers in hardware (3.9; hardware_handlers.hpp)

  /// There are some: from now on messages that name a reserved handler are not events, unless they are refused.
  void add_hardware_handlers() noexcept { has_hardware_handlers_ = true; }
  /// The message that came, if it is theirs: none while Active Messages are disabled, when the default handler takes all (A.2.5).
  [[nodiscard]] const Message* for_hardware(Priority priority) const noexcept {
    const std::optional<Message>& waiting = incoming_[index(priority)];
    const bool is_theirs = has_hardware_handlers_ && ame_ && waiting &&
                           waiting->handler >= reserved_handlers && refused_[index(priority)].empty();
    return is_theirs ? &*waiting : nullptr;
  }
  /// It has been handled: the next may come.
  void handled(Priority priority) noexcept { incoming_[index(priority)].reset(); }
  /// It is not one that they handle: it is an event like any other, and `why` is what its entry says.
  void refuse(Priority priority, std::string_view why) noexcept { refused_[index(priority)] = why; }
  /// A message of theirs, of high priority, in a place of its own: it takes no room from the processor's sends, and they go in turns.
  [[nodiscard]] bool accepts_answer() const noexcept { return !answer_.has_value(); }
  void answer(const Message& message) noexcept {
    answer_ = message;
    network_.ring();
  }

 private:
  enum Level : std::uint8_t { computation, low, high };
  /// What an event is to leave behind as it was, and what is known of its message.
  struct Running {
    std::optional<bool> kernel;  // KU_c before; only a message's handler changes it (A.7)
    Address inh = 0;
    std::uint32_t about = 0;  // the low half of nistat
  };

  [[nodiscard]] Level level() const noexcept { return !ee_ ? high : !lpee_ ? low : computation; }
  /// The message whose handler runs; not by EE and LPEE, which a request handler may clear for a critical section (3.5, footnote 5).
  [[nodiscard]] const Running& message() const noexcept {
    return running_[high].kernel ? running_[high] : running_[low];
  }
  /// Throws InvalidInstruction where Table 1 has none.
  static std::size_t place_of(Register which, const char* instruction) {
    using enum Register;
    const auto number = static_cast<std::size_t>(which);
    if (which == timeh || which == timec || which == count || (which >= enable && which <= inh))
      return number;
    throw InvalidInstruction(kit::text_of(instruction, ": the network interface has no register ", number));
  }
  [[nodiscard]] Word& at(Register which) noexcept { return registers_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] Word at(Register which) const noexcept { return registers_[static_cast<std::size_t>(which)]; }
  static std::uint32_t bit_if(bool set, std::uint32_t bit) noexcept { return set ? bit : 0; }
  /// The EP field. A.2.6 says that op is lpa and hpa, A.9.2 that it is lpa alone: the former.
  [[nodiscard]] std::uint32_t pending() const noexcept {
    return bit_if(is_event(Priority::high), nistat::hpmp) | bit_if(is_event(Priority::low), nistat::lpmp) |
           bit_if(accepts(Priority::low) && accepts(Priority::high), nistat::op) |
           bit_if(timelet_pending_, nistat::tp);
  }
  [[nodiscard]] Word status() const noexcept {
    const std::uint32_t some = pending();
    return bit_if((some >> nistat::masks_below_pending & masks_) != 0, nistat::pend) |
           bit_if(nicond_, nistat::nicond) | bit_if(onicond_, nistat::onicond) | some | masks_ |
           bit_if(lpee_, nistat::lpee) | bit_if(accepts(Priority::high), nistat::hpa) |
           bit_if(accepts(Priority::low), nistat::lpa) | bit_if(ame_, nistat::ame) | message().about;
  }
  void set_status(Word value) noexcept {
    nicond_ = (value & nistat::nicond) != 0;
    onicond_ = (value & nistat::onicond) != 0;
    masks_ = value & nistat::masks;
    lpee_ = (value & nistat::lpee) != 0;
    ame_ = (value & nistat::ame) != 0;
  }
  /// What it carries goes into the registers of its context, whose other words and temporaries stay what they are.
  [[nodiscard]] Address begin_message(Priority priority) {
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
  [[nodiscard]] Entry entry(Event event, Address handler, std::string_view refused = {}) const noexcept {
    return {event, handler, is_address_error(handler), refused};
  }
  [[nodiscard]] bool is_event(Priority priority) const noexcept {
    return !has_room(priority) && for_hardware(priority) == nullptr;
  }
  [[nodiscard]] bool is_turn_of_answer(Priority priority) const noexcept {
    return priority == Priority::high && answer_ && !(answered_last_ && outgoing_[index(priority)]);
  }
  [[nodiscard]] bool is_address_error(Address handler) const noexcept {
    return (handler & 3) != 0 || (!kernel_ && handler >= kernel_space);
  }

  std::array<Word, 1 + static_cast<std::size_t>(Register::inh)> registers_{};  // but those of what follows
  std::uint32_t masks_ = 0;
  bool ee_ = false;
  bool lpee_ = true;
  bool ame_ = true;
  bool nicond_ = false;
  bool onicond_ = false;
  bool timelet_pending_ = false;
  std::uint64_t timelet_wait_ = 0;  // cycles
  bool timelet_awaited_ = false;    // timec was written since the last one began
  bool kernel_ = false;
  std::array<RegisterSet, 3> sets_{};  // by level
  std::array<Running, 3> running_{};   // by level; nothing for the computation
  std::array<std::optional<Message>, 2> outgoing_{};
  std::array<std::optional<Message>, 2> incoming_{};
  kit::NodeBell network_{};
  kit::NodeBell processor_{};
  std::array<std::string_view, 2> refused_{};  // of what is in incoming_; empty: it is not
  std::optional<Message> answer_{};
  bool answered_last_ = false;  // of the high messages that have gone, the last was an answer
  bool has_hardware_handlers_ = false;
};

}  // namespace am::t1
