#include "emulated_hw/care/site.hpp"

#include <algorithm>

#include "emulated_hw/kit/fingerprint.hpp"

namespace am::care {

namespace {

Ports leading_somewhere(const kit::Topology& topology, NodeNumber here) {
  Ports ports = kit::port_bit(local);
  for (unsigned port = 1; port < kit::ports_of(topology); ++port) {
    if (kit::neighbour(topology, here, port) != kit::nowhere) ports |= kit::port_bit(port);
  }
  return ports;
}

}  // namespace

Site::Site(NodeNumber here, const Preferences& preferences, const Options& options, Counts& counts)
    : router_(here, preferences, leading_somewhere(preferences.topology(), here)),
      outputs_(kit::ports_of(preferences.topology())),
      upstream_(options, counts, 2 * here),
      downstream_(options, counts, 2 * here + 1),
      operator_(here, options, counts),
      wires_(outputs_.size()) {
  for (unsigned port = 0; port < outputs_.size(); ++port)
    inputs_.emplace_back(static_cast<PortNumber>(port), options, counts);
}

void Site::is_wired(PortNumber port, Site& other, PortNumber its) { wires_[port] = {&other, its}; }

const Wire& Site::into(PortNumber port) const {
  return port == local ? downstream_.packet_out()
                       : wires_[port].site->outputs_[wires_[port].port].packet_out();
}

Status Site::status_into(PortNumber port) const {
  return port == local ? upstream_.status_out() : wires_[port].site->inputs_[wires_[port].port].status_out();
}

void Site::odd_phase(Cycle now) {
  for (unsigned port = 0; port < ports(); ++port) {
    const NetOutput& output = outputs_[port];
    router_.latch(static_cast<PortNumber>(port),
                  {output.status_out(), output.is_first_wait(), output.took()});
  }
  for (unsigned turn = 0; turn < ports(); ++turn)
    step_input(static_cast<PortNumber>((now + turn) % ports()), now);
  for (NetInput& input : inputs_) input.step_final(router_);
  upstream_.step_input(outputs_[local].packet_out(), now);
  downstream_.step_input(operator_.packet_out(), now);
  const std::uint64_t before = operator_.taken();
  operator_.step_receive(upstream_.packet_out(), now);
  if (operator_.taken() != before) moved_at_ = now;
}

void Site::step_input(PortNumber port, Cycle now) {
  if (!has(port)) return;
  NetInput& input = inputs_[port];
  const std::uint64_t before = input.words();
  input.step(into(port), router_);
  if (input.words() == before) return;
  moved_at_ = now;
  fingerprint_ += kit::mixed(kit::mixed(now, here() * ports() + port), input.packet() + 1);
}

void Site::even_phase(Cycle now) {
  for (unsigned port = 0; port < ports(); ++port) {
    const auto number = static_cast<PortNumber>(port);
    if (!has(number)) continue;
    const auto from = router_.connection_of(number);
    outputs_[port].step(from ? inputs_[*from].packet_out(number, router_) : Wire{}, status_into(number));
  }
  upstream_.step_output(operator_.status_out(), now);
  downstream_.step_output(inputs_[local].status_out(), now);
  operator_.step_send(downstream_.status_out(), now);
}

bool Site::is_idle() const noexcept {
  return operator_.is_idle() && upstream_.is_idle() && downstream_.is_idle() &&
         std::ranges::all_of(inputs_, [](const NetInput& input) { return input.is_idle(); }) &&
         std::ranges::all_of(outputs_, [](const NetOutput& output) { return output.is_idle(); });
}

std::uint64_t Site::link_words() const noexcept {
  std::uint64_t words = 0;
  for (unsigned port = 1; port < ports(); ++port) words += inputs_[port].words();
  return words;
}

}  // namespace am::care
