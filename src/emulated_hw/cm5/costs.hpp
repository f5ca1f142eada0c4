// What accesses of a CM-5 node take, in cycles of its 33 MHz SPARC (von Eicken 1993, 3.2.1, its table and Figure 3-8). Of a double word, the
// second number. (Lee 1999, Table 2.1 says 32 MHz.)
//
// Figure 3-8's drawing is lost. A store keeps the processor for 3 or 4 cycles, and the memory bus for 4 while the processor goes on. A load
// has 2 cycles in the processor, and stalls it for the 5 of the bus; a second word takes one more.
//
// Assumed: any other instruction takes a cycle, and is in the cache.
#pragma once

namespace am::cm5::costs {

struct Access {
  unsigned word, two_words;
};
inline constexpr Access cache_read{2, 3};
inline constexpr Access store{3, 4};  ///< until the write buffer has it
inline constexpr Access interface_read{7, 8};
inline constexpr unsigned before_bus = 2;  ///< of a load's cycles, in the processor

// On the memory bus.
inline constexpr unsigned interface_write = 4;
inline constexpr Access memory_write{18, 10};  ///< of less than 64 bits: read, modified, written
inline constexpr unsigned line_read = 22;      ///< 32 bytes

// Instructions, as programs are made of.
inline constexpr unsigned operation = 1;
inline constexpr unsigned branch = 2;    ///< with its delay slot
inline constexpr unsigned call = 2;      ///< the same
inline constexpr unsigned back = 2;      ///< from a call
inline constexpr unsigned window = 1;    ///< save or restore: a window is free
inline constexpr unsigned constant = 2;  ///< of 32 bits
inline constexpr unsigned test_and_branch = operation + branch;

}  // namespace am::cm5::costs
