// The five numbers of a network from what was measured on it, as Culler and others measure them ("Assessing Fast Network Interfaces",
// 1996): a node sends bursts of short requests, computes for `delay` after each, handles the replies that have come, and looks at the
// time when the last one has been sent. Against the length of the burst that time rises by o_send for each request as long as no
// reply is back, and by g from when the network holds no more; with delays in which a reply is back, by the delay,
// o_send and o_recv. A round trip has each of them twice, and L; longer ones G.
//
// Lines are Theil's and Sen's, the median of the slopes between all pairs of points, which a few bad samples do not move.
// Pure functions of what they are given, for any thread; they allocate.
#pragma once

#include <am/error.hpp>
#include <am/logp/network.hpp>

#include <vector>

namespace am::logp {

/// All times in one unit, which the fitted numbers then have.
struct Samples {
  /// A round trip.
  struct RoundTrip {
    double bytes = 0;  // of payload, there and back again; 0 for a short message
    double time = 0;
  };
  /// Requests in a row, to the last reply.
  struct Burst {
    double requests = 0;  // 1 or more
    double delay = 0;     // computed after each
    double time =
        0;  // from before the first send to after the last delay, without what reading a clock takes
  };

  std::vector<RoundTrip> round_trips;
  std::vector<Burst> bursts;
};

/// Takes round trips of short messages and of two lengths at least; bursts without a delay, of 1 request or such as end in half of
/// a round trip, and of two lengths that last for four; and bursts of two such lengths with the same delay, of a round trip or more.
/// Others are left out. Throws am::Error that names what is missing, or the sample that cannot be.
///
/// L is what overheads leave of half a round trip: below 0 where the receiver begins before the send returns, as over sockets of one
/// machine. The other numbers are not, whatever the noise.
[[nodiscard]] Network fit(const Samples& samples);

}  // namespace am::logp
