// The pointers that these programs begin with: the system has made them before (setptr), and they reach all of the address space.
#pragma once

#include <cstdint>

#include "emulated_hw/mmachine/guarded_pointer.hpp"

namespace am::mmachine {

[[nodiscard]] inline Word pointer_to(PointerType type, std::uint64_t address) noexcept {
  return setptr(Privilege::system, pointer_bits(type, GuardedPointer::address_bits, address)).word;
}

}  // namespace am::mmachine
