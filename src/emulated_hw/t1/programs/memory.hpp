// The memories of the nodes of a CNS-1, in words. Programs say themselves what their accesses cost (instructions.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/t1/network_interface.hpp"

namespace am::t1 {

using kit::NodeNumber;

/// "each global address is a <processor, offset> pair" (T1 report, 2.2.1); offsets are in words.
struct GlobalPtr {
  NodeNumber node = 0;
  Word offset = 0;
};

class Memories {
 public:
  Memories(NodeNumber nodes, Word words_of_each) : words_(nodes, std::vector<Word>(words_of_each)) {}

  /// Throws Exception where there is none.
  [[nodiscard]] std::span<Word> block(NodeNumber node, Word offset, Word words) {
    std::vector<Word>& all = words_.at(node);
    if (offset > all.size() || words > all.size() - offset)
      throw Exception("node " + std::to_string(node) + ": address error: no memory of " +
                      std::to_string(words) + " words at word " + std::to_string(offset));
    return std::span(all).subspan(offset, words);
  }
  [[nodiscard]] Word& at(NodeNumber node, Word offset) { return block(node, offset, 1).front(); }

 private:
  std::vector<std::vector<Word>> words_;
};

}  // namespace am::t1
