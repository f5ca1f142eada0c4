#include "core/modes/continue_call.hpp"
#include "host/clock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace am::core {

#if defined(__x86_64__) && defined(__linux__)

// NOLINTBEGIN(performance-no-int-to-ptr): registers hold what they hold
namespace {

constexpr std::size_t syscall_bytes = 2;  // 0f 05
constexpr std::size_t number_bytes = 5;   // b8 imm32: mov $number, %eax

/// The call that has just failed with EINTR, as far as the code before it tells; -1: none.
long interrupted_call(const ucontext_t& context) noexcept {
  const auto& registers = context.uc_mcontext.gregs;
  if (registers[REG_RAX] != -EINTR) return -1;
  // The code that has just been executed, so it is there to be read.
  const auto* next = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  const unsigned char* call = next - syscall_bytes;
  if (call[0] != 0x0f || call[1] != 0x05) return -1;
  const unsigned char* number = call - number_bytes;
  if (number[0] != 0xb8) return -1;
  std::int32_t value = 0;
  std::memcpy(&value, number + 1, sizeof value);
  return value;
}

/// The registers still hold the arguments: a call leaves all but three of them alone.
void repeat(ucontext_t& context, long call) noexcept {
  context.uc_mcontext.gregs[REG_RIP] -= syscall_bytes;
  context.uc_mcontext.gregs[REG_RAX] = call;
}

timespec* place_for_time() noexcept {
  // Read by the kernel as soon as the call is repeated. Several, for an interrupt may come before that.
  // initial-exec: at first use in a thread, another model may take memory, and this is a signal handler.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit timespec places[8] = {};
  [[gnu::tls_model("initial-exec")]] static thread_local constinit unsigned next = 0;
  return &places[next++ % 8];
}

/// Turns a relative sleep into one until the same time.
void repeat_sleep(ucontext_t& context, const timespec* asked, const timespec* remaining) noexcept {
  auto& registers = context.uc_mcontext.gregs;
  timespec* until = place_for_time();
  *until = host::timespec_of(host::monotonic_ns() + host::ns_of(remaining != nullptr ? *remaining : *asked));
  registers[REG_RDI] = CLOCK_MONOTONIC;
  registers[REG_RSI] = TIMER_ABSTIME;
  registers[REG_RDX] = reinterpret_cast<greg_t>(until);
  registers[REG_R10] = 0;
  repeat(context, SYS_clock_nanosleep);
}

}  // namespace

void continue_call(ucontext_t& context) noexcept {
  const long call = interrupted_call(context);
  if (call < 0) return;
  const auto& registers = context.uc_mcontext.gregs;
  const auto argument = [&](int which) { return registers[which]; };
  switch (call) {
    case SYS_nanosleep:
      // Interrupted again: what stands in the registers is ours, and no place for a time is at that address.
      if (argument(REG_RDI) == CLOCK_MONOTONIC) return repeat(context, SYS_clock_nanosleep);
      repeat_sleep(context, reinterpret_cast<const timespec*>(argument(REG_RDI)),
                   reinterpret_cast<const timespec*>(argument(REG_RSI)));
      return;
    case SYS_clock_nanosleep:
      if ((argument(REG_RSI) & TIMER_ABSTIME) != 0) return repeat(context, call);
      if (argument(REG_RDI) != CLOCK_MONOTONIC && argument(REG_RDI) != CLOCK_REALTIME) return;
      repeat_sleep(context, reinterpret_cast<const timespec*>(argument(REG_RDX)),
                   reinterpret_cast<const timespec*>(argument(REG_R10)));
      return;
    case SYS_poll:
      if (static_cast<int>(argument(REG_RDX)) < 0) repeat(context, call);
      return;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      if (static_cast<int>(argument(REG_R10)) < 0) repeat(context, call);
      return;
    case SYS_futex:
      if ((argument(REG_RSI) & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) repeat(context, call);
      return;
    case SYS_select:
    case SYS_pselect6:
    case SYS_ppoll:
    case SYS_pause:
    case SYS_semop:
    case SYS_msgsnd:
    case SYS_msgrcv:
      repeat(context, call);
      return;
    default:
      return;
  }
}
// NOLINTEND(performance-no-int-to-ptr)

#else

void continue_call(ucontext_t& /*context*/) noexcept {}

#endif

}  // namespace am::core
