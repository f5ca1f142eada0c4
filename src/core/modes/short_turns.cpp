#include "core/modes/short_turns.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdint>

namespace am::core {

namespace {

constexpr std::uint64_t turn_ns = 100'000;  // the least that may be asked for
constexpr std::uint64_t reset_on_fork = 1;

/// struct sched_attr, which not every system has in a header.
struct Attributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;  // of SCHED_OTHER: how long a turn is
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};

}  // namespace

void ask_for_short_turns() noexcept {
  Attributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.flags |= reset_on_fork;
  attributes.runtime_ns = turn_ns;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace am::core
