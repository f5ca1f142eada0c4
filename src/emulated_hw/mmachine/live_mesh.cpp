#include "emulated_hw/mmachine/live_mesh.hpp"

namespace am::kit {
template class LiveNetwork<mmachine::LiveMesh, mmachine::LiveRouter>;
}
