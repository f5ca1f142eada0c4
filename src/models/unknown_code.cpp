#include "models/unknown_code.hpp"

#include <am/message.hpp>

#include "models/broken.hpp"
#include "models/symbol_name.hpp"

namespace am::models {

namespace {

void name_code(Reply& reply, CodeWord word) {
  const auto address = reinterpret_cast<std::uintptr_t>(code_of(word));
  broken(
      reply.node().id(), "node ", reply.from(), " does not have the handler ", SymbolName(address).text(),
      ", which it was sent: all nodes of a job run the same build of one program, with the same libraries");
}

[[noreturn]] void nobody_to_ask(const Node& node) noexcept {
  broken(node.id(), "that handler's sender has left and cannot name it");
}

}  // namespace

void end_without_word(const Node& node, const char* call, Code function) noexcept {
  if (function == nullptr) broken(node.id(), call, " with a null handler");
  broken(node.id(), call, " with a handler that is no function of this program or its libraries: ",
         SymbolName(reinterpret_cast<std::uintptr_t>(function)).text());
}

void report_unknown_code(Node& node, NodeId from, const char* call, CodeWord word) {
  constexpr CodeWord offset_bits = (CodeWord{1} << code_offset_bits) - 1;
  say(node.id(), call, " of node ", from, " names a handler that this node's program does not have (offset ",
      word & offset_bits, " of an object with the identity ", word >> code_offset_bits, "); node ", from,
      " will name it");
  switch (node.try_reply_to<name_code>(from, word)) {
    case Status::ok:
      return;
    case Status::again:
      return node.post([from, word](Node& later) {
        if (later.reply_to<name_code>(from, word) != Status::ok) nobody_to_ask(later);
      });
    default:
      nobody_to_ask(node);
  }
}

}  // namespace am::models
