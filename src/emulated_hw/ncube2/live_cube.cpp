#include "emulated_hw/ncube2/live_cube.hpp"

namespace am::kit {
template class LiveNetwork<ncube2::LiveCube, ncube2::LiveRouter>;
}
