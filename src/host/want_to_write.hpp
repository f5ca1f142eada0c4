// Asks for a line that is about to be written: the processor takes it away from whoever has it in a cache, and nothing waits for it.
#pragma once

namespace am::host {

inline void want_to_write(const void* place) noexcept {
#if defined(__x86_64__)
  // By name: for a processor of any age the built-in function asks for a copy to read. An older one does nothing here.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
#endif
}

}  // namespace am::host
