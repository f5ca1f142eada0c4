#include "emulated_hw/t1/live_mesh.hpp"

namespace am::kit {
template class LiveNetwork<t1::LiveMesh, t1::LiveRouter>;
}
