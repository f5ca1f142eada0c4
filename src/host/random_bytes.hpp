// Random bytes from the kernel, fit for keys.
#pragma once

#include <cstddef>
#include <span>

namespace am::host {

/// Waits until the kernel has gathered enough to begin with. Throws am::Error.
void fill_random(std::span<std::byte> bytes);

}  // namespace am::host
