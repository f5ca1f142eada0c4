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

std::string for_what(const impl::WordOperation& op) {
  const char* const numbers = op.is_signed ? " of signed numbers" : " of unsigned numbers";
  switch (op.operation) {
    case impl::KnownOperation::none:
      return "";
    case impl::KnownOperation::sum:
      return ", for a sum";
    case impl::KnownOperation::maximum:
      return std::string(", for a maximum") + numbers;
    case impl::KnownOperation::minimum:
      return std::string(", for a minimum") + numbers;
    case impl::KnownOperation::bit_and:
      return ", for a bitwise and";
    case impl::KnownOperation::bit_or:
      return ", for a bitwise or";
    case impl::KnownOperation::bit_xor:
      return ", for a bitwise exclusive or";
  }
  return ", for an unknown op";
}

/// The root and the op too, where there are any.
std::string with_size(const Round& round) {
  if (round.kind == Round::Kind::barrier) return "";
  const bool has_root = round.kind == Round::Kind::broadcast || round.kind == Round::Kind::reduce;
  return (has_root ? " with root " + std::to_string(round.root) + " and " : " with ") +
         host::counted(round.bytes, "byte") + for_what(round.op);
}

}  // namespace

Error mismatch_error(const Operation& operation, const Round& own, NodeId from, const Round& other,
                     bool is_over) {
  const std::string round = "its round " + std::to_string(own.sequence / 2) + " of collectives";
  const std::string mine = is_over ? round + " was " + name_of(own.kind) + with_size(own)
                           : own.kind == Round::Kind::barrier ? std::string("this is a barrier")
                                                              : "this is " + round + "," + with_size(own);
  return {
      operation.what(), "node " + std::to_string(operation.node().id()),
      mine + "; that of node " + std::to_string(from) + " is " + name_of(other.kind) + with_size(other),
      "all nodes call the same collectives in the same order, with the same op and values of the same size"};
}

}  // namespace am::core
