// What a node has found when it started, for people (AM_VERBOSE).
#pragma once

#include <string>

#include "core/node/engine.hpp"

namespace am::core {

/// How it has joined, and what leads to whom; from the first node of a host also how the other hosts are reached, a line each.
[[nodiscard]] std::string describe_found(Engine& engine);

}  // namespace am::core
