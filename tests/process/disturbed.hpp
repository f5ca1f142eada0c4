// A job of two processes. One interrupts the other all the time, whatever that one does.
#pragma once

#include <atomic>

#include "support/job.hpp"

namespace test {

/// Node 0, until node 1 has done its part.
struct Disturber {
  std::atomic<bool> ended{false};
  void end(am::Request&) { ended = true; }
};

/// Node 1 calls body(node, its state). Meanwhile node 0 sends it State::come, each so many nanoseconds after the last: it interrupts anew.
template <class State>
void disturbed(am::Count apart, const std::function<void(am::Node&, State&)>& body) {
  Disturber disturber;  // they live longer than the nodes: messages come until node 1 has left
  State state;
  run_job({Nodes::processes, am::Dispatch::interrupt}, 2, [&](am::Node& node) {
    node.id() == 0 ? node.attach(disturber) : node.attach(state);
    node.barrier();
    if (node.id() == 0) {
      while (!disturber.ended) {
        static_cast<void>(node.try_request<&State::come>(1));
        const am::Count next = node.count() + apart;
        do node.poll();
        while (node.count() < next);
      }
    } else {
      body(node, state);
      check(node.request<&Disturber::end>(0) == am::Status::ok, "request");
    }
    node.barrier();
  });
}

}  // namespace test
