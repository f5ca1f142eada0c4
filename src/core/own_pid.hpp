// Which process this is, for paths that cannot pay for a system call.
#pragma once

#include <sys/types.h>

namespace am::core {

/// As getpid, also in a forked child. The first call must not be in a signal handler.
[[nodiscard]] pid_t own_pid() noexcept;

}  // namespace am::core
