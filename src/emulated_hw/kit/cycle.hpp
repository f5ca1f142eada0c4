// Time under a clock.
#pragma once

#include <cstdint>

namespace am::kit {

using Cycle = std::uint64_t;

}  // namespace am::kit
