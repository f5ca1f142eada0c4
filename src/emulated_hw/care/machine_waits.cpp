// Who waits for whom in a CARE machine: packets for packets that have what they need, and for operators.
#include <bit>
#include <string>

#include "emulated_hw/care/machine.hpp"

namespace am::care {

namespace {

std::string packet_name(PacketNumber packet) { return "packet " + std::to_string(packet); }
std::string at(const Site& site) { return " at site " + std::to_string(site.here()); }
std::string operator_name(const Site& site) { return "the operator of site " + std::to_string(site.here()); }

template <class Waits>
void add(Waits& waits, const std::string& place, const std::string& line,
         const std::set<std::string>& behind) {
  auto& one = waits[place];
  one.line += (one.line.empty() ? place : ";") + line;
  one.behind.insert(behind.begin(), behind.end());
}

}  // namespace

/// Net-inputs that seek.
void Machine::add_input_waits(const Site& site, WaitsByPlace& waits) const {
  for (unsigned port = 0; port < site.ports(); ++port) {
    const NetInput& input = site.input(static_cast<PortNumber>(port));
    const auto target = input.sought();
    if (!target) continue;
    std::set<std::string> behind;
    for (Ports left = site.router().considered(*target); left != 0; left &= left - 1) {
      const NetOutput& output = site.output(static_cast<PortNumber>(std::countr_zero(left)));
      if (!output.machine().is(net_output::State::free)) behind.insert(packet_name(output.packet()));
    }
    add(waits, packet_name(input.packet()),
        at(site) + " seeks a net-output towards site " + std::to_string(*target), behind);
  }
}

/// Net-outputs whose downstream is not free, or says wait.
void Machine::add_output_waits(const Site& site, WaitsByPlace& waits) const {
  for (unsigned number = 0; number < site.ports(); ++number) {
    const auto port = static_cast<PortNumber>(number);
    const NetOutput& output = site.output(port);
    if (output.machine().is(net_output::State::free)) continue;
    if (port == local) {
      if (site.upstream().machine().status() != Status::wait) continue;
      std::set<std::string> behind{operator_name(site)};
      const auto first = site.upstream().queue().first();
      if (first && *first != output.packet()) behind.insert(packet_name(*first));
      add(waits, packet_name(output.packet()), at(site) + " waits for its fifo-buffer, which is full",
          behind);
    } else if (output.machine().is(net_output::State::first)) {
      const NodeNumber there = kit::neighbour(topology(), site.here(), number);
      add(waits, packet_name(output.packet()), at(site) + " waits for site " + std::to_string(there), {});
    }
  }
}

/// Operators that have a packet to send again, and no room for it; and what waits behind them.
void Machine::add_operator_waits(const Site& site, WaitsByPlace& waits) const {
  const auto sends = site.its_operator().requests().first();
  const auto queued = site.downstream().queue().first();
  const NetInput& input = site.input(local);
  if (site.its_operator().is_new()) {
    add(waits, operator_name(site),
        " has no room for packet " + std::to_string(site.its_operator().received()) +
            ", which it is to send again: all its storage is committed",
        sends ? std::set{packet_name(*sends)} : std::set<std::string>{});
    if (const auto first = site.upstream().queue().first())
      add(waits, packet_name(*first), at(site) + " waits in a fifo-buffer", {operator_name(site)});
  }
  if (sends && queued && *sends != *queued)
    add(waits, packet_name(*sends), at(site) + " waits to be sent", {packet_name(*queued)});
  if (queued && !input.machine().is(net_input::State::free) && *queued != input.packet())
    add(waits, packet_name(*queued), at(site) + " waits in a fifo-buffer", {packet_name(input.packet())});
}

void Machine::add_waits(kit::Waits& waits) const {
  WaitsByPlace by_place;
  for (const auto& site : sites_) {
    add_input_waits(*site, by_place);
    add_output_waits(*site, by_place);
    add_operator_waits(*site, by_place);
  }
  for (const auto& [place, wait] : by_place)
    waits.add(place, wait.line, {wait.behind.begin(), wait.behind.end()});
}

std::string Machine::who_waits() const {
  const std::string text = kit::who_waits(*this);
  return text.empty() ? "nothing is under way\n" : text;
}

}  // namespace am::care
