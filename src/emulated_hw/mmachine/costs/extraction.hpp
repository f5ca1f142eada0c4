// How a message that has arrived comes into a program's registers: which head the dispatcher waits for, and what it takes to have
// each word as an operand.
//
// What the thesis leaves open. A buffered interface holds one message: the next one enters when the dispatcher comes back for it, and a
// handler copies all of a message before it uses the first word; a streaming one is read word by word. A word of a memory-mapped one has
// an address, which is computed, and takes a traversal of the memory hierarchy to its register; loads are pipelined, so a handler asks for
// all words first. Into a buffer in memory the network interface puts a message by another traversal. The handlers' thread has the
// interface for itself: no semaphore.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.2, 6.1, 6.5.1, 6.5.2.
#pragma once

#include <cstddef>
#include <vector>

#include "emulated_hw/mmachine/costs/cluster.hpp"
#include "emulated_hw/mmachine/costs/interface_model.hpp"
#include "emulated_hw/mmachine/costs/letter.hpp"

namespace am::mmachine::costs {

class Extraction {
 public:
  explicit Extraction(Port port) noexcept : port_(port) {}

  /// The dispatcher is ready for this one, the next: since when can it be read?
  Cycle accept(const Cluster& cluster, Arrival arrival);
  /// Its head, as the operand of the dispatcher's jump.
  Register head(Cluster& cluster) noexcept;
  /// All words of its body, one after the other: `use` issues what a handler does with one.
  template <class Use>
  void take_words(Cluster& cluster, Use use) {
    if (takes_all_first()) {
      std::vector<Register> words;
      for (const Cycle arrived : arrival_.words) words.push_back(take(cluster, arrived));
      for (const Register word : words) use(word);
    } else {
      for (const Cycle arrived : arrival_.words) use(take(cluster, arrived));
    }
  }

 private:
  [[nodiscard]] bool buffered() const noexcept { return port_.atomicity == Atomicity::buffered; }
  [[nodiscard]] bool takes_all_first() const noexcept {
    return buffered() || port_.mapping == Mapping::memory;
  }
  Register take(Cluster& cluster, Cycle arrived) noexcept;
  [[nodiscard]] Register read_memory(Cluster& cluster, Cycle arrived) noexcept;

  Port port_;
  Arrival arrival_{};
};

}  // namespace am::mmachine::costs
