// GetRow and PutRow: rows of an image are shared out to a row of cells, and put together again (Borkar et al. 1990, 3.1.2, Figure 3).
//
// GetRow: the first cell sends a row as one message. Each cell takes its portion, and redirects the remainder to the next one: not a word of that
// enters its memory. The first cell knows neither how many there are nor what they take. PutRow: each cell sends its portion as a message of its
// own, does not close it, peels off the header of the message that comes, and redirects the rest of that behind its own words.
//
// Here PutRow goes back to the first cell: so the nearest portion is the first one, as in GetRow, and rows are whole.
#pragma once

#include <string>
#include <vector>

#include "emulated_hw/iwarp/machine.hpp"

namespace am::iwarp {

struct Image {
  unsigned columns = 0;
  std::vector<Data> pixels{};  ///< row by row, 0 to 255
  friend bool operator==(const Image&, const Image&) = default;
};
/// A disc on a ground that becomes lighter to the right.
[[nodiscard]] Image draw(unsigned columns, unsigned rows);
/// As a PGM, in text.
[[nodiscard]] std::string pgm(const Image& image);

struct Inverted {
  Image image;
  Cycle cycles = 0;
  std::vector<std::uint64_t> memory_words;  ///< of each cell: loaded or stored; and cycles that spooled
};
/// Black becomes white: each cell inverts its portion of each row. The portions make up a row. Throws std::invalid_argument.
[[nodiscard]] Inverted invert(const Image& image, const std::vector<unsigned>& portions);

}  // namespace am::iwarp
