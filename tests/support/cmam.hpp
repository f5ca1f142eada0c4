// What the tests of <am/cmam.h> share: a place for what each node's handlers write, since nodes that are threads share their
// globals; who a node is and who comes next; the fixture.
#pragma once

#include <am/cmam.h>

#include "support/job.hpp"

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

inline void count_one() { mine().flag = mine().flag + 1; }

/// A function of any type, for calls that take one.
template <class F>
auto code(F* function) {
  return reinterpret_cast<void (*)(...)>(function);
}

/// The fixture of programs of CMAM: nodes have forgotten what a test before has left, and meet before and after the body.
template <class On>
class OnCmam : public On {
 protected:
  static void run_cmam(am::NodeId n, const std::function<void()>& body) {
    On::run(n, [&](am::Node&) {
      mine() = {};
      CMMD_sync_with_nodes();
      body();
      CMMD_sync_with_nodes();
    });
  }
};

}  // namespace test
