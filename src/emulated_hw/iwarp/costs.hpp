// What an iWarp takes, in cycles of 50 ns (Borkar et al. 1990, 4, 7.1, 8).
#pragma once

namespace am::iwarp::costs {

inline constexpr unsigned ns = 50;  ///< of a cycle: 20 MHz

/// "It takes four phases of 25 ns each" to bring a word over a bus: 40 MB/s.
inline constexpr unsigned bus = 2;

// The computation agent's (8).
inline constexpr unsigned request = 3;  ///< a logical channel, "if a logical channel is available"
inline constexpr unsigned begin = 2;    ///< a pathway begin marker made and sent
inline constexpr unsigned address = 1;  ///< each address for a corner
inline constexpr unsigned end = 2;      ///< a pathway end marker made and sent
inline constexpr unsigned message = 2;  ///< a message begin or end marker
inline constexpr unsigned gates = 2;  ///< "all four input/output operations in two 50 ns clock cycles" (7.1)
inline constexpr unsigned run_time = 0;  ///< assumed: overheads of the run-time system, which come on top (8)

// The communication agent's, from a begin marker's arrival to its departure. The bus comes on top: 200 ns, and 250 at a corner.
inline constexpr unsigned match = 2;
inline constexpr unsigned corner = 3;
inline constexpr unsigned join = 2;  ///< from the instruction until the first word leaves

// The paper has no time for these.
inline constexpr unsigned word =
    1;  ///< assumed: a word that is no begin marker, from its arrival to its departure
inline constexpr unsigned dequeue = 2;   ///< assumed: the dequeue signal's way back
inline constexpr unsigned dispatch = 4;  ///< assumed: "a control transfer to an appropriate service routine"
inline constexpr unsigned handler_return = 4;  ///< assumed
inline constexpr unsigned control = 1;  ///< assumed: an instruction that binds a gate, or sets up a spool
inline constexpr unsigned memory = 1;   ///< assumed: a load or a store
inline constexpr unsigned pairing =
    4;  ///< assumed: for so long a word waits for the second one of its double word

}  // namespace am::iwarp::costs
