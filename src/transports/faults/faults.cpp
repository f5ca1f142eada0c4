#include "transports/faults/faults.hpp"

#include <am/error.hpp>
#include <cstdio>
#include <string>

#include "transports/faults/faulty_transport.hpp"

namespace am {

namespace {

void report(const faults::Plan& plan) {
  const std::string kill =
      plan.kill ? ",kill=" + std::to_string(plan.kill->node) + "@" + std::to_string(plan.kill->commit) : "";
  std::fprintf(stderr, "am: faults: seed=%llu,refuse=%g,delay=%g,reorder=%g%s\n",
               static_cast<unsigned long long>(plan.seed), plan.refuse, plan.delay, plan.reorder,
               kill.c_str());
}

}  // namespace

std::unique_ptr<Transport> make_faults(Transport& network, std::string_view text, bool verbose, NodeId self,
                                       NodeId nodes) {
  const faults::Plan plan = faults::parse_plan(text);
  if (!plan.asks_for_something()) return nullptr;
  if (verbose && self == 0) report(plan);
  if (plan.kill && plan.kill->node >= nodes && self == 0) {
    std::fprintf(stderr, "am: AM_FAULTS=%s kills nobody: there is no node %u among the job's %u\n",
                 std::string(text).c_str(), plan.kill->node, nodes);
  }
  return std::make_unique<faults::FaultyTransport>(network, plan, self, nodes);
}

void check_faults_for_threads(std::string_view plan) {
  if (!faults::parse_plan(plan).kill) return;
  throw Error("start a job of threads",
              "AM_FAULTS=" + std::string(plan) + " kills a node, which is a thread here",
              "leave kill out of AM_FAULTS, or run the nodes as processes: amrun -n ...");
}

}  // namespace am
