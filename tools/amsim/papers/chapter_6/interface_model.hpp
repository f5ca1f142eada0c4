// The interfaces that chapter 6 compares, as points in its space: how messages are injected and extracted, how addresses are
// translated, how arrivals are dispatched. injection.hpp lowers the first and the third to operations, receiver.hpp the others.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.1, Tables 6.1, 6.2 and 6.3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace amsim::chapter_6 {

/// How the interface is presented to software.
enum class Mapping : std::uint8_t {
  processor,  ///< registers that any operation may read and write: the M-Machine's
  network,    ///< registers of the network device: a word is moved between them and a program's
  memory,     ///< addresses, reached through the memory hierarchy
};
/// Whether a message goes word by word, or only when it is complete.
enum class Atomicity : std::uint8_t { buffered, streaming };
enum class Translation : std::uint8_t { gtlb, software };
enum class Dispatch : std::uint8_t { thread_slot, polled, interrupt };

struct Port {
  Mapping mapping;
  Atomicity atomicity;
};

/// The M-Machine's own, but for what differs.
struct InterfaceModel {
  Port injection{Mapping::processor, Atomicity::buffered};
  Port extraction{Mapping::processor, Atomicity::streaming};
  Translation translation = Translation::gtlb;
  Dispatch dispatch = Dispatch::thread_slot;
  /// Each message comes just too late for the poll, or for the interrupt handler's last look: the worst cases of 6.5.4.
  bool comes_too_late = false;
};

/// What the thesis's name says, word by word: SWX, translation in software; POL and INT, the dispatch; else I or E for injection or
/// extraction, R or M for registers of the network or memory, S or B for streaming or buffered. MM says nothing.
constexpr InterfaceModel model_named(std::string_view name) noexcept {
  constexpr std::size_t letters = 3;
  InterfaceModel model;
  for (; name.size() >= letters; name.remove_prefix(std::min(letters + 1, name.size()))) {
    const std::string_view word = name.substr(0, letters);
    if (word == "SWX") {
      model.translation = Translation::software;
    } else if (word == "POL" || word == "INT") {
      model.dispatch = word == "POL" ? Dispatch::polled : Dispatch::interrupt;
    } else {
      (word[0] == 'I' ? model.injection : model.extraction) = {
          word[1] == 'R' ? Mapping::network : Mapping::memory,
          word[2] == 'S' ? Atomicity::streaming : Atomicity::buffered};
    }
  }
  return model;
}

}  // namespace amsim::chapter_6
