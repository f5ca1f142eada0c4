// The state machines of CARE's components, row by row (Byrd, Nakano and Delagi 1987, Tables E, F and H, Figures 7, 8, 9 and 11). The figures
// are lost: the rows follow from the text of 4.4 to 4.7 and the figures' tables of conditions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "emulated_hw/care/packet.hpp"

namespace am::care {

template <class State, class When>
struct Row {
  State from;
  When when;
  State to;
  std::optional<Status> says{};  ///< on status-out; none: what it said before
};

/// The input side of a fifo-buffer (Table E, Figure 7).
namespace buffer {
enum class State : std::uint8_t { free, open, wait, done_wait, done };
/// Data arrives and the queue is full, or not; the queue is full, or not; a terminator arrives and it is full, or not; that is queued.
enum class When : std::uint8_t { df, dnf, f, nf, tf, tnf, tq, timeout };
inline constexpr std::array<Row<State, When>, 10> rows{{
    {State::free, When::dnf, State::open, Status::open},
    {State::free, When::df, State::wait, Status::wait},
    {State::open, When::f, State::wait, Status::wait},
    {State::wait, When::nf, State::open, Status::open},
    {State::open, When::tnf, State::done, Status::free},
    {State::open, When::tf, State::done_wait, Status::wait},
    {State::done_wait, When::nf, State::done, Status::free},
    {State::done, When::tq, State::free, Status::free},
    {State::open, When::timeout, State::open, Status::abort_request},
    {State::wait, When::timeout, State::wait, Status::abort_request},
}};
}  // namespace buffer

/// A net-input (Table F, Figures 8 and 11).
namespace net_input {
enum class State : std::uint8_t { free, first, open, wait, done, last, abort, fin_abort, final };
/// Data arrives; seek; connection; wait; open; abort-request in a multicast; terminator; with a wait; no wait. `event` is the one that leads
/// from done to final (5.3), in place of `o`.
enum class When : std::uint8_t { da, s, c, w, o, arm, tr, wtr, nw, event };
inline constexpr std::array<Row<State, When>, 20> rows{{
    {State::free, When::da, State::first, Status::wait},
    {State::first, When::s, State::first},
    {State::first, When::c, State::open, Status::open},
    {State::open, When::w, State::wait, Status::wait},
    {State::wait, When::o, State::open, Status::open},
    {State::open, When::tr, State::done},
    {State::open, When::wtr, State::last, Status::wait},
    {State::wait, When::tr, State::last},
    {State::done, When::w, State::last, Status::wait},
    {State::last, When::o, State::done, Status::open},
    {State::done, When::o, State::free, Status::free},
    {State::open, When::arm, State::abort, Status::open},
    {State::wait, When::arm, State::abort, Status::open},
    {State::done, When::arm, State::fin_abort, Status::open},
    {State::last, When::arm, State::fin_abort, Status::open},
    {State::abort, When::tr, State::fin_abort},
    {State::fin_abort, When::nw, State::free, Status::free},
    {State::done, When::event, State::final},
    {State::final, When::w, State::last, Status::wait},
    {State::final, When::nw, State::free, Status::free},
}};
}  // namespace net_input

/// A net-output (Table H, Figure 9).
namespace net_output {
enum class State : std::uint8_t { free, first, open, wait, done, last };
/// Data arrives; free; wait; open; abort-request; terminator; with a wait; :abort-packet; no wait.
enum class When : std::uint8_t { da, f, w, o, ar, tr, wtr, ap, nw };
inline constexpr std::array<Row<State, When>, 15> rows{{
    {State::free, When::da, State::first, Status::wait},
    {State::first, When::f, State::wait, Status::wait},
    {State::wait, When::o, State::open, Status::open},
    {State::open, When::w, State::wait, Status::wait},
    {State::open, When::tr, State::done},
    {State::open, When::wtr, State::last, Status::wait},
    {State::wait, When::tr, State::last},
    {State::done, When::w, State::last, Status::wait},
    {State::last, When::o, State::done},
    {State::done, When::nw, State::free},
    {State::open, When::ar, State::open, Status::abort_request},
    {State::wait, When::ar, State::wait, Status::abort_request},
    {State::done, When::ar, State::done},
    {State::last, When::ar, State::last},
    {State::first, When::ap, State::free, Status::free},
}};
}  // namespace net_output

/// One of them, at work. It counts how often it has taken each row.
template <class State, class When, const auto& rows>
class StateMachine {
 public:
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool is(State state) const noexcept { return state_ == state; }
  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] const auto& taken() const noexcept { return taken_; }

  /// Throws std::logic_error where there is no such row.
  void enter(When when) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (rows[row].from != state_ || rows[row].when != when) continue;
      state_ = rows[row].to;
      status_ = rows[row].says.value_or(status_);
      ++taken_[row];
      return;
    }
    throw std::logic_error("care: a component is in a state that has no such condition");
  }
  void say(Status status) noexcept { status_ = status; }

 private:
  State state_ = State::free;
  Status status_ = Status::free;
  std::array<std::uint32_t, rows.size()> taken_{};
};

using BufferMachine = StateMachine<buffer::State, buffer::When, buffer::rows>;
using NetInputMachine = StateMachine<net_input::State, net_input::When, net_input::rows>;
using NetOutputMachine = StateMachine<net_output::State, net_output::When, net_output::rows>;

}  // namespace am::care
