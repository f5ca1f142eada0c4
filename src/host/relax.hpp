// One breath in a loop that spins: tells the processor that nothing is to be gained by haste.
#pragma once

namespace am::host {

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace am::host
