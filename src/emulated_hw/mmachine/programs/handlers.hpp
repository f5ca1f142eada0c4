// What programs and their handlers begin with: pointers that the system has made before (setptr) and that reach all of the address space, and
// what stands before the body of a message.
#pragma once

#include <cstdint>

#include "emulated_hw/mmachine/guarded_pointer.hpp"
#include "emulated_hw/mmachine/thread.hpp"

namespace am::mmachine {

[[nodiscard]] inline Word pointer_to(PointerType type, std::uint64_t address) noexcept {
  return setptr(Privilege::system, pointer_bits(type, GuardedPointer::address_bits, address)).word;
}

/// What every handler finds before the body.
struct Opening {
  unsigned argcount = 0;
  Word sender{};   ///< its NID
  Word address{};  ///< DestAddr
};
inline Program open(Thread& thread, Opening& opening) {
  opening.argcount = static_cast<unsigned>((co_await thread.msg_body()).bits);
  opening.sender = co_await thread.msg_body();
  opening.address = co_await thread.msg_body();
}

}  // namespace am::mmachine
