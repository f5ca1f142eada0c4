// What the tests of <am/splitc.hpp> share: who sits beside a node, and the fixture.
#pragma once

#include <am/splitc.hpp>

#include "support/job.hpp"

namespace test {

inline int right() { return (am::splitc::my_proc() + 1) % am::splitc::procs(); }
inline int left() { return (am::splitc::my_proc() + am::splitc::procs() - 1) % am::splitc::procs(); }

/// The fixture of programs of Split-C: the nodes' World is there for the body, behind which they meet.
template <class On>
class OnSplitC : public On {
 protected:
  static void run_splitc(am::NodeId n, const Body& body) {
    On::run(n, [&](am::Node& node) {
      const am::splitc::World world(node);
      body(node);
    });
  }
};

}  // namespace test
