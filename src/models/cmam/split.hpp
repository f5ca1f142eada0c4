// What each node gave to a scan or reduction that is done in two halves, as far as this node has heard of it. Only one is under way at a
// time. A node that is through may begin the next before others have heard all of this one, and no more than that: so there are two
// places for each node.
#pragma once

#include <cstdint>
#include <vector>

namespace am::models::cmam {

/// A value, whatever its type, and the bit of its segment.
struct Given {
  std::uint64_t value = 0;
  std::int64_t bit = 0;
};

struct SplitCollective {
  enum class What : std::uint8_t { none, scan, reduction };
  What under_way = What::none;
  const char* type = "";  ///< of the values
  int combiner = 0, direction = 0, mode = 0, inclusion = 0;
  std::uint64_t begun = 0;           ///< by this node
  std::vector<Given> given[2];       ///< by the parity of their collective, by node
  std::vector<std::uint64_t> heard;  ///< of how many collectives, from each
};

}  // namespace am::models::cmam
