#include <am/impl/copy.hpp>

namespace am::impl {

void copy_by_lines(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t lines = 128;
  for (; bytes >= lines; bytes -= lines, into += lines, from += lines) std::memcpy(into, from, lines);
  std::memcpy(into, from, bytes);
}

}  // namespace am::impl
