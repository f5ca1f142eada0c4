// The T1's network interface registers: a view on the state that the rest of the interface works with, not a second one.
// For programs that follow the T1 literally; others use Node and am/events.hpp. Source: T1 report, appendix A.2, A.8.2.
//
//   am::Registers t1(node);
//   t1.set_nistat(t1.nistat() & ~nistat::ame);        // messages go to the default handler from now on
//   if ((t1.nistat() & nistat::pend) != 0) ...        // a quick poll
//
// Figures 6 to 8 and 17 (the bit positions) are lost from the text of the report. This layout keeps the order in which
// it lists the fields, and bit 17 for `lpa`, which Figure 18 tests:
//
//   31 pend   30 nicond   29 onicond   28 zero   27-24 EP: hpmp lpmp op tp   23-20 EM: hpmm lpmm om tm
//   19 LPEE   18 hpa      17 lpa       16 ame    15 mcst   14 pri   12-8 slen   5-0 vlen
//
// Differences from the hardware, each because a node here is a program that polls: Count is 64 bits of nanoseconds;
// handlers are functions, not addresses; LPEPC and HPEPC do not exist.
//
// Used by the node's own thread, in the computation or in a handler. Nothing here runs a handler; in the handler-thread and
// interrupt modes one may run as a call ends, as behind any other.
#pragma once

#include <am/events.hpp>
#include <am/handler.hpp>
#include <am/node.hpp>
#include <cstdint>
#include <functional>

namespace am {

/// The bits of `nistat`.
namespace nistat {
inline constexpr std::uint32_t pend =
    1u << 31;  ///< EP & EM is not empty; the outlet counts once it has a handler
inline constexpr std::uint32_t nicond = 1u << 30;   ///< the last send was accepted. Read, write
inline constexpr std::uint32_t onicond = 1u << 29;  ///< nicond as the running low event found it. Read, write
inline constexpr std::uint32_t hpmp = 1u << 27;     ///< a message waits on the high network
inline constexpr std::uint32_t lpmp = 1u << 26;     ///< a message waits on the low network
inline constexpr std::uint32_t op = 1u << 25;       ///< lpa and hpa
inline constexpr std::uint32_t tp = 1u << 24;       ///< a timelet's time has come
inline constexpr std::uint32_t hpmm = 1u << 23;     ///< masks, 1 = enabled. Read, write
inline constexpr std::uint32_t lpmm = 1u << 22;
inline constexpr std::uint32_t om = 1u << 21;
inline constexpr std::uint32_t tm = 1u << 20;
inline constexpr std::uint32_t lpee = 1u
                                      << 19;  ///< low events enabled. Read, write; not for handlers (A.2.5)
inline constexpr std::uint32_t hpa =
    1u << 18;  ///< the high network takes messages: none was refused since it had room
inline constexpr std::uint32_t lpa = 1u << 17;  ///< the same of the low network
inline constexpr std::uint32_t ame = 1u << 16;  ///< active messages enabled. Read, write

inline constexpr std::uint32_t mcst = 1u << 15;  ///< the message that is handled was sent to a group
inline constexpr std::uint32_t pri = 1u << 14;   ///< and came on the high network
/// How many 64-bit argument words the message has.
constexpr std::uint32_t slen(std::uint32_t value) noexcept { return value >> 8 & 31; }
/// How many 64-bit payload words it has; 63: as many or more.
constexpr std::uint32_t vlen(std::uint32_t value) noexcept { return value & 63; }

inline constexpr std::uint32_t em = hpmm | lpmm | om | tm;
inline constexpr std::uint32_t writable = nicond | onicond | em | lpee | ame;
}  // namespace nistat

/// The T1's network interface registers of one node.
class Registers {
 public:
  explicit Registers(Node& node) noexcept : node_(&node) {}

  /// The status register (A.2.5 to A.2.7). Takes in what has come, runs nothing of it, and costs about as much as a poll; in a
  /// handler it looks only into shared memory and at what was taken in before. The low half is zero except in a message's
  /// handler. Not for forked children: it ends them.
  [[nodiscard]] std::uint32_t nistat() const noexcept;
  /// Read-only bits ignore what is written.
  void set_nistat(std::uint32_t value) noexcept;

  /// Bit 0 is EE: whether any event may run (A.2.4). am::CriticalSection writes the same flag.
  [[nodiscard]] std::uint32_t enable() const noexcept {
    const impl::Hold hold(*node_);
    return node_->events_.ee ? 1 : 0;
  }
  void set_enable(std::uint32_t value) noexcept {
    node_->change_events_([=](impl::EventState& events) { events.ee = (value & 1) != 0; });
  }

  /// Count, on the clock that all nodes share, in nanoseconds.
  [[nodiscard]] Count count() const noexcept { return node_->count(); }

  /// The timelet compare register (A.2.2): when Count gets there, tp is set and, as soon as timelets are enabled, timeh
  /// runs. Writing it clears tp and replaces the time written before, whether that has come or not; a time that has
  /// passed is due at once (the T1 would wait until Count comes round). 0 before the first write, when none is armed.
  /// Timelets of Node::on_timelet are other timelets behind the same event: tp shows them too, writing spares them.
  [[nodiscard]] Count timec() const noexcept;
  void set_timec(Count when);

  /// The handler registers; an empty function is no handler. timeh is what it is when the timelet runs, not when it was
  /// armed. outh and dmh are those of Node::on_outlet and Node::on_default.
  void set_timeh(std::function<void(LowEvent&)> handler);
  void set_outh(std::function<void(LowEvent&)> handler) { node_->on_outlet(std::move(handler)); }
  void set_dmh(std::function<void(Incoming&)> handler) { node_->on_default(std::move(handler)); }

  /// The node's number.
  [[nodiscard]] NodeId niid() const noexcept { return node_->id(); }

  /// In a message's handler: the handler that the message names, to compare with address<h>() (A.2.13). no_handler
  /// everywhere else.
  [[nodiscard]] std::uint16_t inh() const noexcept;
  template <auto H, class F = impl::HandlerType<H>>
  [[nodiscard]] static std::uint16_t address() noexcept {
    return impl::Handler<H>::id();
  }
  static constexpr std::uint16_t no_handler = 0xffff;

 private:
  Node* node_;
};

}  // namespace am
