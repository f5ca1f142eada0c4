#include "emulated_hw/mmachine/costs/parts.hpp"

#include <algorithm>
#include <vector>

#include "emulated_hw/mmachine/costs/benchmark_programs.hpp"
#include "emulated_hw/mmachine/costs/ends.hpp"

namespace am::mmachine::costs {

InjectionParts injection_parts(const InterfaceModel& model) {
  Cluster cluster;
  Sender caller(model, 0);
  const Arrival call =
      caller.send(cluster, {.destination = {}, .words = std::vector<Source>(rpc_words, Source::computed)});
  return {.head = call.head, .tail = call.tail(), .started = rpc(model).latency};
}

DispatchParts dispatch_parts(const InterfaceModel& model) {
  Cluster cluster;
  Sender asking(model, 0);
  Sender answering(model, 0);
  const Arrival request =
      asking.send(cluster, {.destination = {}, .words = std::vector<Source>{Source::computed}});

  Receiver asked(model);
  const Cycle arrived = asked.bring_in(request);
  const Cycle brought_in = std::max(arrived, asked.cluster.next_issue());
  Cycle answered = 0;
  asked.run([&](Extraction& message) {
    Letter reply;
    message.take_words(asked.cluster, [&](Register from) { reply.destination = from; });
    answered = answering.send(asked.cluster, reply).head - path_cycles;
  });
  return {.swap = brought_in - arrived, .service = answered - brought_in};
}

}  // namespace am::mmachine::costs
