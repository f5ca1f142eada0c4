// Each machine of across::Machine, in a file of its own.
#pragma once

#include <memory>

#include "emulated_hw/across/machine.hpp"

namespace am::across {

/// Of rows x columns.
[[nodiscard]] std::unique_ptr<Machine> on_t1(unsigned rows, unsigned columns);
[[nodiscard]] std::unique_ptr<Machine> on_mmachine(unsigned height, unsigned width);
[[nodiscard]] std::unique_ptr<Machine> on_ncube2(unsigned dimensions);
[[nodiscard]] std::unique_ptr<Machine> on_cm5(NodeNumber nodes);

}  // namespace am::across
