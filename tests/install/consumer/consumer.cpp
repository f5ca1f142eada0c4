// The outside program of the install test: each node asks itself and waits for the answer.

#include <am/am.hpp>
#include <cstdint>
#include <cstdio>
#ifdef CONSUMER_SIMULATES
#include <am/sim.hpp>
#endif

namespace {

std::uint64_t answer = 0;

void answered(am::Reply&, std::uint64_t value) { answer = value; }

void ask(am::Request& request, std::uint64_t value) { request.reply<answered>(value + 1); }

}  // namespace

int main(int argc, char** argv) {
  am::Node& node = am::start(argc, argv);
  node.request<ask>(node.id(), std::uint64_t{41});
  node.wait_until([] { return answer != 0; });
  std::printf("node %u of %u: %u\n", static_cast<unsigned>(node.id()), static_cast<unsigned>(node.size()),
              static_cast<unsigned>(answer));
#ifdef CONSUMER_SIMULATES
  if (am::sim::run({.k = 4}, {}).saturated) return 2;
#endif
  return answer == 42 ? 0 : 1;
}
