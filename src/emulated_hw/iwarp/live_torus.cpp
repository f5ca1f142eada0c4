#include "emulated_hw/iwarp/live_torus.hpp"

namespace am::kit {
template class LiveNetwork<iwarp::LiveTorus, iwarp::LiveRouter>;
}
