// What the tests of <am/cmam.h> share: a place for what each node's handlers write, since nodes that are threads share their
// globals; who a node is and who comes next; begin and end of a test.
#pragma once

#include <am/cmam.h>

#include <array>
#include <cstdint>

namespace test {

/// What a node's handlers write.
struct Written {
  volatile int flag = 0;
  volatile int second = 0;
  std::array<am_word, 4> words{};
  double number = 0;
  int segment = -1;
  void* base = nullptr;
  void* info = nullptr;
  std::uint64_t sum = 0;
};
inline std::array<Written, 8> places;
inline Written& mine() { return places[static_cast<std::size_t>(CMMD_self_address())]; }
inline int me() { return CMMD_self_address(); }
inline int next() { return (CMMD_self_address() + 1) % CMMD_partition_size(); }

/// Forgets what a test before has left.
inline void begin() {
  mine() = {};
  CMMD_sync_with_nodes();
}
inline void end() { CMMD_sync_with_nodes(); }

inline void count_one() { mine().flag = mine().flag + 1; }

}  // namespace test
