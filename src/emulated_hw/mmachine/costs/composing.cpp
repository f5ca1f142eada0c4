#include "emulated_hw/mmachine/costs/composing.hpp"

#include <cstddef>

namespace am::mmachine::costs {

Register compose_word(Cluster& cluster, Source source) noexcept {
  if (source == Source::kept) return {};
  if (source == Source::loaded) {
    const Register word = cluster.load();
    (void)cluster.lea();
    return word;
  }
  return cluster.compute();
}

std::vector<Register> compose(Cluster& cluster, const Letter& letter) {
  std::vector<Register> words(letter.words.size());
  for (unsigned operation = 0; operation < operations_per_seed; ++operation) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool now =
          letter.words[i] == Source::regenerated || (letter.words[i] == Source::computed && operation == 0);
      const bool finishes = letter.words[i] == Source::computed || operation + 1 == operations_per_seed;
      if (now) words[i] = cluster.issue({.reads = {words[i]}, .slots = finishes ? 1U : 0U});
    }
  }
  return words;
}

}  // namespace am::mmachine::costs
