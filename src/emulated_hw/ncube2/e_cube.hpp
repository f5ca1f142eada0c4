// Where a router of the nCUBE/2 sends a message: e-cube, the lowest bit of the address that differs first (von Eicken 1993, 3.1.3). A
// message that came by a dimension has those up to it behind it.
//
// The copies of a broadcast part at each bit that does not matter; what is left goes on to the next bit that differs, or ends here. Its
// sender gets none.
#pragma once

#include <bit>
#include <cstdint>

#include "emulated_hw/ncube2/address.hpp"

namespace am::ncube2 {

struct Outputs {
  std::uint32_t dimensions = 0;  ///< whose channels get it, as bits
  bool here = false;             ///< and this node
};

/// `open`: the first dimension behind the one by which it came; 0: this node sends it.
[[nodiscard]] constexpr Outputs e_cube(NodeNumber here, const Address& to, unsigned open) noexcept {
  const std::uint32_t differs = (here ^ to.node) & ~to.mask;
  if (to.mask == 0) return {differs & -differs, differs == 0};
  const std::uint32_t ahead = ~std::uint32_t{0} << open;
  const std::uint32_t next = differs & ahead & -(differs & ahead);  // the lowest, or none
  const std::uint32_t copies = to.mask & ahead & (next != 0 ? next - 1 : ~std::uint32_t{0});
  return {next | copies, next == 0 && open != 0};
}

/// The dimension whose DMA engine sends a message from `here`: of the lowest bit that differs, or does not matter. There is one.
[[nodiscard]] constexpr unsigned first_dimension(NodeNumber here, const Address& to) noexcept {
  return static_cast<unsigned>(std::countr_zero((here ^ to.node) | to.mask));
}

}  // namespace am::ncube2
