// The other file of handler_table_test.cpp: its handlers have the same names and signatures as those there.
#include <am/am.hpp>

namespace {

struct Counter {
  long hits = 0;
  void hit(am::Request&) { hits += 1; }
};
void hit(am::Request& request) { request.state<Counter>().hits += 1; }

using Send = am::Status (am::Node::*)(am::NodeId);
const volatile Send request_hit = &am::Node::request<&Counter::hit>;

}  // namespace

namespace test {

int hit_the_other_counter(am::Node& node) {
  Counter counter;
  node.attach(counter);
  const bool sent = (node.*request_hit)(0) == am::Status::ok && node.request<hit>(0) == am::Status::ok;
  if (!sent) return -1;
  node.wait_until([&] { return counter.hits >= 2; });
  return static_cast<int>(counter.hits);
}

}  // namespace test
