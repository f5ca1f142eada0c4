// Exceptions that nobody catches: one line that names the node, and the handler that threw, then the end with code 1. No
// core dump, as it is an error that says what to do, not a fault of the program; whoever wants one sets a terminate handler.
//
// A good guest: where the program has a terminate handler of its own, or sets one later, that one is called. Without an
// exception (std::terminate by hand, a thread that was not joined), and for one that has nothing to do with a node, all is
// as without libam.
#pragma once

#include <am/types.hpp>
#include <exception>
#include <string>

#include "core/reports/recorder.hpp"

namespace am::core {

/// From now on. Any thread, any number of times.
void tell_of_the_uncaught() noexcept;

/// The program's one node, by am::start, from when its number is known: a line needs it before the node has joined, too.
void this_process_is(NodeId node) noexcept;

/// An exception, and where it came from.
struct Origin {
  std::exception_ptr exception;
  NodeId node = 0;
  RecordedEvent event;  ///< none: not out of an event
};

// Each thread knows where the last exception came from that left an event in it, or that it threw again. A node's thread uses
// these with events held off, so that in the interrupt mode none comes between.

/// The exception that is being handled leaves `event`; if it has left another one before, that one stands.
void came_out_of(NodeId node, const RecordedEvent& event) noexcept;
/// Of the exception that is being handled, so that it can be thrown again elsewhere.
[[nodiscard]] Origin origin_of_current(NodeId node) noexcept;
/// Throws it again: where nobody catches it, it is told with its origin.
[[noreturn]] void throw_again(Origin origin);

/// On one line: what it says, what caused it, and the event that it or its cause came out of.
[[nodiscard]] std::string text_of_exception(const Origin& origin);

}  // namespace am::core
