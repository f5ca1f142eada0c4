// Checks for code that runs on a node of a test's job: a thread, or a forked child, where GoogleTest's assertions do not
// reach. A check that fails throws; the exception ends the node and is the failure of the test (support/job.hpp).
// Also inside handlers: what a handler throws leaves the poll that ran it.
#pragma once

#include <am/error.hpp>
#include <am/types.hpp>
#include <source_location>
#include <sstream>

namespace test {

class CheckFailed : public std::runtime_error {
 public:
  CheckFailed(std::string_view what, const std::source_location& where)
      : std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
                           std::string(what)) {}
};

inline void check(bool holds, std::string_view what,
                  const std::source_location& where = std::source_location::current()) {
  if (!holds) throw CheckFailed(what, where);
}

template <class A, class B>
void check_equal(const A& got, const B& expected, std::string_view what,
                 const std::source_location& where = std::source_location::current()) {
  if (got == expected) return;
  std::ostringstream text;
  text << what << ": got " << got << ", expected " << expected;
  throw CheckFailed(text.str(), where);
}

/// Checks that a message was accepted.
inline void check_ok(am::Status status, std::string_view what = "the status of a send",
                     const std::source_location& where = std::source_location::current()) {
  check_equal(am::to_string(status), am::to_string(am::Status::ok), what, where);
}

/// Runs `f` and checks that it throws an E whose text contains `part`.
template <class E, class F>
void check_throws(F&& f, std::string_view part,
                  const std::source_location& where = std::source_location::current()) {
  try {
    f();
  } catch (const E& error) {
    if (std::string_view(error.what()).find(part) != std::string_view::npos) return;
    throw CheckFailed(std::string("the error does not say \"") + std::string(part) + "\": " + error.what(),
                      where);
  }
  throw CheckFailed("nothing was thrown", where);
}

/// What the error of an action says.
template <class E = am::Error, class F>
std::string error_of(F&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace test
