// How a message goes from a program into the network, through each interface of Table 6.1: what the program issues to compose it
// there, when its words leave, and when the next one may be begun.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 4.2, 6.1, 6.2, 6.5.1, 6.5.2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated_hw/mmachine/costs/translation.hpp"
#include "emulated_hw/mmachine/instruction_stream.hpp"

namespace am::mmachine::costs {

/// Where a word of a message comes from.
enum class Source : std::uint8_t {
  computed,     ///< one operation of an integer unit
  regenerated,  ///< operations_per_seed of them, one after the other
  loaded,       ///< from memory, whose address is then moved on
  kept,         ///< as it was in the message before: an interface that still has that one need do nothing
};

/// A message as a program states it, before an interface lowers it to operations.
struct Composition {
  Register destination{};       ///< its virtual address
  std::vector<Source> words{};  ///< of its body, in their order

  [[nodiscard]] bool loads() const noexcept { return loaded() != 0; }
  /// How many of a program's registers hold it: what comes from memory need not be there yet.
  [[nodiscard]] unsigned live_registers() const noexcept {
    return static_cast<unsigned>(words.size()) - loaded();
  }

 private:
  [[nodiscard]] unsigned loaded() const noexcept {
    return static_cast<unsigned>(std::ranges::count(words, Source::loaded));
  }
};

/// When a message reaches the interface that it is for: its head (the HandlerIP), and each word of its body.
struct Arrival {
  Cycle head = 0;
  std::vector<Cycle> words{};

  [[nodiscard]] Cycle tail() const noexcept { return words.empty() ? head : words.back(); }
  /// The next word, which left so and comes a cycle behind the one before at the earliest.
  void append(Cycle cycle) { words.push_back(std::max(cycle, tail() + 1)); }

  /// As it comes from a buffer that holds all of it: a word a cycle behind the head.
  [[nodiscard]] static Arrival in_one_piece(Cycle head, std::size_t words) {
    Arrival arrival{.head = head};
    while (arrival.words.size() < words) arrival.append(head);
    return arrival;
  }
};

class Injection {
 public:
  explicit Injection(AddressTranslation translation) noexcept : translation_(translation) {}
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;
  virtual ~Injection() = default;

  /// Issues all that it takes, from the words' operands to the message's last word on its way.
  virtual Arrival send(InstructionStream& thread, const Composition& message) = 0;

 protected:
  [[nodiscard]] const AddressTranslation& translation() const noexcept { return translation_; }
  [[nodiscard]] Register translate(InstructionStream& thread, const Composition& message) const noexcept {
    return translation_.translate(thread, message.destination, message.live_registers());
  }

 private:
  AddressTranslation translation_;
};

[[nodiscard]] std::unique_ptr<Injection> make_injection(Port port, AddressTranslation translation);

}  // namespace am::mmachine::costs
