#include "sleepers.hpp"

#include <am/am.hpp>

#include "clock.hpp"
#include "job.hpp"

namespace ambench {

namespace {

constexpr double falling_asleep_ns = 30e6;

struct Sleeper {
  int greeted = 0;
  bool woken = false;

  void greeting(am::Reply&) { ++greeted; }
  void wake(am::Request&) { woken = true; }
};

// Runs on nodes 0 and 1 and needs nothing of their state.
void greet(am::Request& request) { request.reply<&Sleeper::greeting>(); }

void sleep_connected(am::Node& node) {
  Sleeper sleeper;
  node.attach(sleeper);
  for (const am::NodeId measuring : {0U, 1U}) node.request<greet>(measuring);
  node.wait_until([&] { return sleeper.greeted == 2; });
  node.barrier();
  node.wait_until([&] { return sleeper.woken; });
}

// Passes the barrier of those that sleep, and gives them the time to.
void let_others_sleep(am::Node& node) {
  node.barrier();
  if (node.size() == 2) return;
  const double end = now_ns() + falling_asleep_ns;
  while (now_ns() < end) node.poll();
}

void wake_others(am::Node& node) {
  for (am::NodeId other = 2; other < node.size(); ++other) node.request<&Sleeper::wake>(other);
}

}  // namespace

void run_with_others_asleep(am::Node& node, const std::function<void()>& measuring,
                            const std::function<void()>& serving) {
  if (node.id() > 1) {
    sleep_connected(node);
  } else {
    say_place(node);
    let_others_sleep(node);
    if (node.id() == 0) {
      measuring();
      wake_others(node);
    } else {
      serving();
    }
  }
  node.barrier();
}

}  // namespace ambench
