// A plugin whose handlers have the names of another one's. OPERATION is what it computes.
#include "programs/plugin.hpp"

namespace {

int answer = 0;
void answered(am::Reply& /*reply*/, int value) { answer = value; }
void compute(am::Request& request, int value) { request.reply<answered>(value OPERATION); }
am::NodeId next_to(const am::Node& node) { return (node.id() + 1) % node.size(); }

}  // namespace

extern "C" {
[[gnu::visibility("default")]] int run(am::Node& node) {
  answer = 0;
  node.request<compute>(next_to(node), 10);
  node.wait_until([] { return answer != 0; });
  return answer;
}

[[gnu::visibility("default")]] int use_state(am::Node& node) {
  node.request<&plugin::State::work>(next_to(node));
  node.wait_until([&] { return node.state<plugin::State>().answers != 0; });
  return ++node.own<plugin::Calls>().count;
}

[[gnu::visibility("default")]] int join(am::Node& /*node*/) {
  return static_cast<int>(am::start(0, nullptr).size());
}
}
