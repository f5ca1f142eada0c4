// What tests of the old interfaces share where things go wrong: what a handler throws, and a node that dies.
#pragma once

#include "support/job.hpp"

namespace test {

struct Thrown : std::runtime_error {
  Thrown() : std::runtime_error("thrown by a handler") {}
};

/// Whether f() lets out what a handler throws.
template <class F>
bool lets_out(F&& f) {
  try {
    f();
    return false;
  } catch (const Thrown&) {
    return true;
  }
}

/// Two nodes, which are processes: node 1 kills itself somewhere in the body, node 0 goes on.
inline void survive_node_1(const Body& body) {
  seed();
  const Environment timeout("AM_TIMEOUT", "120s");
  Processes job(2, [&](am::Node& node) {
    node.on_peer_death([](am::Node&, am::NodeId) {});
    body(node);
  });
  job.expect_signal(1, SIGKILL);
  job.wait();
}

}  // namespace test
