// By what a loaded object is told from others: the same number on every node that has loaded the same file, another one for
// another build. See models/code_address.hpp. Any thread; takes no lock and no memory.
#pragma once

#include <link.h>

#include <cstdint>
#include <span>

namespace am::models {

inline std::span<const ElfW(Phdr)> segments_of(const dl_phdr_info& object) noexcept {
  return {object.dlpi_phdr, object.dlpi_phnum};
}

/// 24 bits, not 0: of the build id that the linker has written, or of what stands in its read-only memory, where each function's
/// place and length stand (.eh_frame). Not of the code itself, which a debugger changes; except where that cannot be told apart.
[[nodiscard]] std::uint32_t identity_of(const dl_phdr_info& object) noexcept;

}  // namespace am::models
