// The small content-addressable memory of a communication agent that begin markers are matched against (Borkar et al. 1990, 6.1.4).
//
// "At initialization time, the run-time system on each cell preloads the match CAM with the address of this cell." To end a Flying Dutchman,
// a pathway that circulates without ever meeting its destination, a cell loads what detects pathways of its own.
//
// Assumed: its size; entries with don't-care bits; the first entry that matches counts.
#pragma once

#include <stdexcept>
#include <vector>

#include "emulated_hw/iwarp/word.hpp"

namespace am::iwarp {

class MatchCam {
 public:
  static constexpr std::size_t most_entries = 16;
  enum class Match : std::uint8_t { none, here, own };
  struct Entry {
    Data value = 0;
    Data mask = 0;  ///< bits that matter
    Match match = Match::here;
  };

  explicit MatchCam(CellNumber cell) { load({cell, Sign::cell_bits, Match::here}); }

  /// Throws std::length_error when it is full.
  void load(const Entry& entry) {
    if (entries_.size() == most_entries) throw std::length_error("iwarp: the match CAM is full");
    entries_.push_back(entry);
  }
  void load_own(CellNumber cell) {
    load({cell << Sign::origin_at, Sign::cell_bits << Sign::origin_at, Match::own});
  }
  [[nodiscard]] Match match(Data data) const noexcept {
    for (const Entry& entry : entries_) {
      if ((data & entry.mask) == entry.value) return entry.match;
    }
    return Match::none;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace am::iwarp
