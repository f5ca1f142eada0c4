// Which kernel a process runs on, and by which of its clocks: where two processes have the same text, they have the same
// CLOCK_MONOTONIC.
#pragma once

#include <string>

namespace am::host {

/// At most 63 characters; empty where the system does not tell.
[[nodiscard]] std::string kernel_id();

}  // namespace am::host
