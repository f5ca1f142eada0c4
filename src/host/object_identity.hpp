// By what a loaded object is told from others: the same number on every node that has loaded the same file, another one for
// another build. For handlers of one name (core/events/handler_table.hpp) and for code addresses as words (models/code_address.hpp).
// Any thread; takes no lock and no memory.
#pragma once

#include <link.h>

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

namespace am::host {

inline std::span<const ElfW(Phdr)> segments_of(const dl_phdr_info& object) noexcept {
  return {object.dlpi_phdr, object.dlpi_phnum};
}

/// 24 bits, not 0: of the build id that the linker has written, or of what stands in its read-only memory, where each function's
/// place and length stand (.eh_frame). Not of the code itself, which a debugger changes; except where that cannot be told apart.
[[nodiscard]] std::uint32_t identity_of(const dl_phdr_info& object) noexcept;

/// Where something lies, in words that mean the same on every node that has loaded the same files.
struct PlaceInObject {
  std::uint32_t identity = 0;  ///< of the object
  std::uint64_t offset = 0;    ///< in it
  std::string_view file;       ///< the object's file without its folder, for copies of one file; "" for the program

  friend auto operator<=>(const PlaceInObject&, const PlaceInObject&) = default;
};

/// The place of an address in the program or one of its libraries; all zero for any other address. `file` lasts as long as the
/// object stays loaded.
[[nodiscard]] PlaceInObject place_of(const void* address) noexcept;

}  // namespace am::host
