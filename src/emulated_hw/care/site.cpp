#include "emulated_hw/care/site.hpp"

#include <algorithm>

#include "emulated_hw/kit/fingerprint.hpp"

namespace am::care {

Site::Site(NodeNumber here, const Preferences& preferences, const Options& options, Counts& counts)
    : router(here, preferences),
      outputs(kit::ports_of(preferences.topology())),
      upstream(options, counts, 2 * here),
      downstream(options, counts, 2 * here + 1),
      its_operator(here, options, counts),
      channels_(outputs.size()) {
  for (PortNumber port = 0; port < outputs.size(); ++port) inputs.emplace_back(port, options, counts);
}

void Site::odd_phase(Cycle now) {
  for (PortNumber port = 0; port < ports(); ++port) {
    const NetOutput& output = outputs[port];
    router.latch(port, {output.status_out(), output.is_first_wait(), output.took()});
  }
  const auto first = static_cast<PortNumber>(now % ports());
  for (PortNumber turn = 0; turn < ports(); ++turn) step_input((first + turn) % ports(), now);
  for (NetInput& input : inputs) input.step_final(router);
  upstream.step_input(outputs[local].packet_out(), now);
  downstream.step_input(its_operator.packet_out(), now);
  const std::uint64_t before = its_operator.taken();
  its_operator.step_receive(upstream.packet_out(), now);
  if (its_operator.taken() != before) moved_at_ = now;
}

void Site::step_input(PortNumber port, Cycle now) {
  const NetOutput* from = channels_[port].from;
  if (port != local && from == nullptr) return;
  NetInput& input = inputs[port];
  const std::uint64_t before = input.words();
  input.step(from == nullptr ? downstream.packet_out() : from->packet_out(), router);
  if (input.words() == before) return;
  moved_at_ = now;
  fingerprint_ += kit::mixed(kit::mixed(now, router.here() * ports() + port), input.packet() + 1);
}

void Site::even_phase(Cycle now) {
  for (PortNumber port = 0; port < ports(); ++port) {
    const NetInput* to = channels_[port].to;
    if (port != local && to == nullptr) continue;
    const auto from = router.connection_of(port);
    outputs[port].step(from ? inputs[*from].packet_out(port, router) : Wire{},
                       to == nullptr ? upstream.status_out() : to->status_out());
  }
  upstream.step_output(its_operator.status_out(), now);
  downstream.step_output(inputs[local].status_out(), now);
  its_operator.step_send(downstream.status_out(), now);
}

bool Site::is_idle() const noexcept {
  const auto idle = [](const auto& part) { return part.is_idle(); };
  return idle(its_operator) && idle(upstream) && idle(downstream) && std::ranges::all_of(inputs, idle) &&
         std::ranges::all_of(outputs, idle);
}

std::uint64_t Site::carried(PortNumber port) const noexcept {
  if (port == local) return its_operator.taken();
  return channels_[port].to == nullptr ? 0 : channels_[port].to->words();
}

}  // namespace am::care
