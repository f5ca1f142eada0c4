// What a program says about its node, over what its environment says.
#pragma once

#include <am/start.hpp>

#include "core/settings/settings.hpp"

namespace am::core {

/// Throws Error where the environment asks for interrupts of a program that has not said that it bears them.
void apply(const Options& options, Settings& settings);

}  // namespace am::core
