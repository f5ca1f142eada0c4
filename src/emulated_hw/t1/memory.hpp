// The memories of the nodes of a CNS-1, as programs and network interfaces see them: "the main processor and the coprocessors all access
// memory through the same cache, so that they have a consistent view of memory" (T1 report, 3.3).
//
// Who accesses it says himself what that costs: memory_cycles().
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulated_hw/t1/network_interface.hpp"
#include "emulated_hw/t1/router.hpp"

namespace am::t1 {

/// "each global address is a <processor, offset> pair" (T1 report, 2.2.1); offsets are in words.
struct GlobalPtr {
  NodeNumber node = 0;
  Word offset = 0;
};

inline constexpr unsigned bytes_per_word = 4;
inline constexpr unsigned words_per_cycle = 4;  ///< "128b-wide path to the local memory" (3.2)
/// Of a block, wherever it begins: assumed.
constexpr unsigned memory_cycles(unsigned words) noexcept {
  return (words + words_per_cycle - 1) / words_per_cycle;
}

/// Of one node: words from address 0, and words of the kernel's from 0x80000000 (network_interface.hpp).
class Memory {
 public:
  explicit Memory(Word words, Word kernel_words = 0) : user_(words), kernel_(kernel_words) {}

  /// Words from a byte address that is one of a word. Empty where not all of them are there.
  [[nodiscard]] std::span<Word> block(Address address, Word words) noexcept {
    const bool is_kernel = address >= NetworkInterface::kernel_space;
    std::vector<Word>& all = is_kernel ? kernel_ : user_;
    const Word offset = (is_kernel ? address - NetworkInterface::kernel_space : address) / bytes_per_word;
    if (offset > all.size() || words > all.size() - offset) return {};
    return std::span(all).subspan(offset, words);
  }

 private:
  std::vector<Word> user_;
  std::vector<Word> kernel_;
};

class Memories {
 public:
  Memories(NodeNumber nodes, Word words_of_each) : memories_(nodes, Memory(words_of_each)) {}

  [[nodiscard]] Memory& of(NodeNumber node) { return memories_.at(node); }
  /// Throws Exception where there is none.
  [[nodiscard]] std::span<Word> block(NodeNumber node, Word offset, Word words) {
    const std::span<Word> found = offset < NetworkInterface::kernel_space / bytes_per_word
                                      ? of(node).block(offset * bytes_per_word, words)
                                      : std::span<Word>();
    if (found.size() != words)
      throw Exception("node " + std::to_string(node) + ": address error: no memory of " +
                      std::to_string(words) + " words at word " + std::to_string(offset));
    return found;
  }
  [[nodiscard]] Word& at(NodeNumber node, Word offset) { return block(node, offset, 1).front(); }

 private:
  std::vector<Memory> memories_;
};

}  // namespace am::t1
