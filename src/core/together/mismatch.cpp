#include "core/together/mismatch.hpp"

#include <string>

#include "core/together/operation.hpp"
#include "host/counted.hpp"

namespace am::core {

const char* name_of(Round::Kind kind) noexcept {
  switch (kind) {
    case Round::Kind::barrier:
      return "a barrier";
    case Round::Kind::broadcast:
      return "broadcast";
    case Round::Kind::reduce:
      return "reduce";
    case Round::Kind::all_reduce:
      return "all_reduce";
    case Round::Kind::scan:
      return "scan";
    case Round::Kind::all_gather:
      return "all_gather";
  }
  return "an unknown collective";
}

namespace {

/// The root too, where there is one.
std::string with_size(const Round& round) {
  if (round.kind == Round::Kind::barrier) return "";
  const bool has_root = round.kind == Round::Kind::broadcast || round.kind == Round::Kind::reduce;
  return (has_root ? " with root " + std::to_string(round.root) + " and " : " with ") +
         host::counted(round.bytes, "byte");
}

}  // namespace

Error mismatch_error(const Operation& operation, const Round& own, NodeId from, const Round& other) {
  const std::string mine =
      own.kind == Round::Kind::barrier
          ? name_of(own.kind)
          : "its round " + std::to_string(own.sequence / 2) + " of collectives," + with_size(own);
  return {
      operation.what(), "node " + std::to_string(operation.node().id()),
      "this is " + mine + "; that of node " + std::to_string(from) + " is " + name_of(other.kind) +
          with_size(other),
      "all nodes call the same collectives in the same order, with the same op and values of the same size"};
}

}  // namespace am::core
