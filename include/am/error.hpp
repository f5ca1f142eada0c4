// What set-up throws: an error that a reader can act on.
//
// Starting a node, joining a job, reading settings and publishing a segment throw `am::Error`. The message
// path never does: it answers a `Status`. An Error may be created, copied and read on any thread.
//
// No Error is built without its four parts in mind: what failed, where (may be left out), why, and what to
// do.
#pragma once

#include <am/impl/language.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace am {

/// What set-up throws: what failed, where, why, and what to do.
class Error : public std::runtime_error {
 public:
  // `what` names the operation ("start"), `why` the cause, `remedy` what the reader does now. An empty
  // `remedy` is left out of the text, an empty `where` (file, host, node: whatever locates the cause)
  // likewise.
  Error(std::string what, std::string why, std::string remedy)
      : Error(std::move(what), std::string(), std::move(why), std::move(remedy)) {}

  Error(std::string what, std::string where, std::string why, std::string remedy)
      : std::runtime_error(text(what, where, why, remedy)),
        what_failed_(std::move(what)),
        where_(std::move(where)),
        why_(std::move(why)),
        remedy_(std::move(remedy)) {}

  // what() is the whole text on one line: `am: <what> [at <where>]: <why> (<remedy>)`.

  /// The operation.
  const std::string& what_failed() const noexcept { return what_failed_; }
  /// The file, host or node; may be empty.
  const std::string& where() const noexcept { return where_; }
  /// The cause.
  const std::string& why() const noexcept { return why_; }
  /// What the reader does now; may be empty.
  const std::string& remedy() const noexcept { return remedy_; }

 private:
  static std::string text(const std::string& what, const std::string& where, const std::string& why,
                          const std::string& remedy) {
    std::string line = "am: " + what;
    if (!where.empty()) line += " at " + where;
    line += ": " + why;
    if (!remedy.empty()) line += " (" + remedy + ")";
    return line;
  }

  std::string what_failed_;
  std::string where_;
  std::string why_;
  std::string remedy_;
};

}  // namespace am
