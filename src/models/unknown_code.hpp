// A handler that a message names and its receiver does not have: another program, another build of it, or a library that is not
// loaded there. The receiver says so and asks the sender, which alone can name the function; that ends the job, with its name.
#pragma once

#include <am/node.hpp>

#include "models/code_address.hpp"

namespace am::models {

/// Ends the node, with a line that says which call got what that is no function.
[[noreturn]] void end_without_word(const Node& node, const char* call, Code function) noexcept;

/// For whoever sends: the word of `function`; where it has none the node ends.
[[nodiscard]] inline CodeWord word_or_end(const Node& node, const char* call, Code function) noexcept {
  const CodeWord word = word_of(function);
  if (word == 0) [[unlikely]]
    end_without_word(node, call, function);
  return word;
}

/// For a handler of either level that got a message of `call` with a word that means nothing here. Returns: the message is lost,
/// and its sender ends as soon as it makes progress; where it is gone already, this node does.
void report_unknown_code(Node& node, NodeId from, const char* call, CodeWord word);

}  // namespace am::models
