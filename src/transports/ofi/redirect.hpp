// Calls of one shared library to functions of another, led to functions of this program instead: by the table that the linker fills in
// for that library. Others go on calling what they called. (Tools that watch over memory do the same.)
#pragma once

#include <span>

namespace am::ofi {

struct Redirection {
  const char* name;  ///< as the library calls it
  void* to;
};

/// For the library that has this function, for as long as it is loaded. False, and nothing is done, where it does not call all of these,
/// or they cannot be found. While nobody else is in that library.
[[nodiscard]] bool redirect(const void* function_of_library, std::span<const Redirection> all) noexcept;

}  // namespace am::ofi
