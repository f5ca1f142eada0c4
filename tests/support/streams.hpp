// What the tests of streams share: of numbers, calls that have to go well.
#pragma once

#include <am/stream.hpp>

#include "support/job.hpp"

namespace test {

using Value = std::uint64_t;
using In = am::StreamIn<Value>;
using Out = am::StreamOut<Value>;
using Where = std::source_location;

inline void check_is_ok(am::StreamStatus status, std::string_view what,
                        const Where& where = Where::current()) {
  check(status == am::StreamStatus::ok, what, where);
}

/// The numbers from `first` to before `end`.
inline void write_numbers(Out& out, Value first, Value end, const Where& where = Where::current()) {
  for (Value number = first; number < end; ++number) check_is_ok(out.write(number), "write", where);
}
inline void read_numbers(In& in, Value first, Value end, const Where& where = Where::current()) {
  for (Value value = 0, number = first; number < end; ++number) {
    check_is_ok(in.read(value), "read", where);
    check_equal(value, number, "value", where);
  }
}
inline void read_marker(In& in, Value expected, const Where& where = Where::current()) {
  Value none = 0;
  check(in.read(none) == am::StreamStatus::marker, "marker", where);
  check_equal(in.marker(), expected, "marker", where);
}
inline void read_end(In& in, const Where& where = Where::current()) {
  Value none = 0;
  check(in.read(none) == am::StreamStatus::ended, "ended", where);
}

/// Until that is refused: by which status.
inline am::StreamStatus write_until_refused(Out& out) {
  am::StreamStatus status = am::StreamStatus::ok;
  while (status == am::StreamStatus::ok) status = out.write(1);
  return status;
}

}  // namespace test
