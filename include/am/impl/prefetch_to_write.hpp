// A store to a line that another core has waits for that line. Who knows beforehand where it will store asks for the line, and goes on.
#pragma once

namespace am::impl {

/// Asks for the line of `place`, to write it. Does not wait. `place` need not be memory.
inline void prefetch_to_write(const void* place) noexcept {
#if defined(__x86_64__)
  // Compilers take this instruction only where they are told of a newer processor; in its place they would ask for a copy to read, which
  // costs half of a stream's rate between far cores.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
#endif
}

}  // namespace am::impl
