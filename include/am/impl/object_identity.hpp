// By what a loaded object (the program, a shared library) is told from others: the same number on every node that has loaded the same
// file, another one for another build. For handlers of one name (src/core/events/handler_table.cpp) and for code addresses as words
// (src/models/code_address.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace am::impl {

/// Where something lies, in words that mean the same on every node that has loaded the same files.
struct PlaceInObject {
  /// Of the object: 24 bits, not 0, of the build id that the linker has written; without one of what stands in its read-only memory,
  /// where each function's place and length stand (.eh_frame). Not of the code, which a debugger changes; except where there is no more.
  std::uint32_t identity = 0;
  std::uint64_t offset = 0;  ///< in it
  std::string_view
      file{};  ///< the object's file without its folder, for copies of one file; "" for the program

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 means a 0 of the compiler's own
  friend auto operator<=>(const PlaceInObject&, const PlaceInObject&) = default;
};

/// The place of an address in the program or one of its libraries; all zero for any other address. `file` lasts as long as the
/// object stays loaded. Any thread; takes no memory.
[[nodiscard]] PlaceInObject place_of(const void* address) noexcept;

}  // namespace am::impl
