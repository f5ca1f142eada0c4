// What all injections share: the operations that make the words of a message, before they are carried anywhere.
#pragma once

#include <vector>

#include "emulated_hw/mmachine/costs/cluster.hpp"
#include "emulated_hw/mmachine/costs/letter.hpp"

namespace am::mmachine::costs {

/// Makes one word; of a loaded one the address is moved on as well.
Register compose_word(Cluster& cluster, Source source) noexcept;

/// Makes all words that are not loaded, those of several operations side by side. In the order of the words, which have a register
/// each: a kept or loaded one's is there already.
std::vector<Register> compose(Cluster& cluster, const Letter& letter);

/// Makes each word and carries it, in their order, with `carry(register, source)`; a loaded word is carried after the load of the next
/// one, when it has come. `between` is called after each loaded one, for what a program does meanwhile.
template <class Carry, class Between>
void carry_words(Cluster& cluster, const Letter& letter, const std::vector<Register>& composed, Carry carry,
                 Between between) {
  bool waits = false;
  Register loaded;
  for (std::size_t i = 0; i < letter.words.size(); ++i) {
    const bool loads = letter.words[i] == Source::loaded;
    const Register word = loads ? compose_word(cluster, Source::loaded) : composed[i];
    if (loads) between();
    if (waits) carry(loaded, Source::loaded);
    waits = loads;
    loaded = word;
    if (!loads) carry(word, letter.words[i]);
  }
  if (waits) carry(loaded, Source::loaded);
}

}  // namespace am::mmachine::costs
