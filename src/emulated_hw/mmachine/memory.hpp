// The memory of one M-Machine node, as far as handlers reach it: words at addresses, through guarded pointers. What is not written is 0.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 5.2.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "emulated_hw/mmachine/guarded_pointer.hpp"

namespace am::mmachine {

class Memory {
 public:
  /// What a load gives: a word, or the exception that it raises.
  [[nodiscard]] Outcome load(const Word& pointer) const {
    if (const auto why = check_load(pointer)) return {.violation = why};
    const auto found = words_.find(GuardedPointer::of(pointer)->address());
    return {.word = found == words_.end() ? Word{} : found->second};
  }
  /// None: it has been stored.
  std::optional<Violation> store(const Word& pointer, const Word& word) {
    if (const auto why = check_store(pointer)) return why;
    words_[GuardedPointer::of(pointer)->address()] = word;
    return {};
  }

 private:
  std::unordered_map<std::uint64_t, Word> words_;
};

}  // namespace am::mmachine
