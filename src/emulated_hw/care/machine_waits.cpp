// Who waits for whom in a CARE machine: packets for packets that have what they need, and for operators.
#include <map>
#include <set>
#include <string>

#include "emulated_hw/care/machine.hpp"

namespace am::care {

namespace {

using Places = std::set<std::string>;

/// Copies of one packet may wait in several places: they are one.
class WaitsOfPackets {
 public:
  /// Net-inputs that seek, net-outputs whose downstream is not free, or full.
  void add_network(const Site& site, const kit::Topology& topology) {
    for (const NetInput& input : site.inputs) {
      const auto target = input.sought();
      if (!target) continue;
      Places behind;
      for (const PortNumber port : site.router.considered(*target)) add_holder(behind, site.outputs[port]);
      add_holder(behind, site.outputs[local]);
      add(name(input.packet()), at(site) + " seeks a net-output towards site " + std::to_string(*target),
          behind);
    }
    for (unsigned port = 1; port < site.ports(); ++port) {
      const NetOutput& output = site.outputs[port];
      if (output.machine().is(net_output::State::first))
        add(name(output.packet()), at(site) + " waits for site " +
                                       std::to_string(kit::neighbour(topology, site.router.here(), port)));
    }
    if (site.outputs[local].is_idle() || site.upstream.machine().status() != Status::wait) return;
    add(name(site.outputs[local].packet()), at(site) + " waits for its fifo-buffer, which is full",
        {operator_of(site)});
  }
  /// An operator that has a packet to send again, and no room for it; and what waits behind it, and behind the net-input.
  void add_operator(const Site& site) {
    const auto sends = site.its_operator.requests().first();
    const auto queued = site.downstream.queue().first();
    if (site.its_operator.is_new()) {
      add(operator_of(site),
          " has no room for packet " + std::to_string(site.its_operator.received()) +
              ", which it is to send again: all its storage is committed",
          sends ? Places{name(*sends)} : Places{});
      if (const auto first = site.upstream.queue().first())
        add(name(*first), at(site) + " waits in a fifo-buffer", {operator_of(site)});
    }
    if (sends && queued && *sends != *queued)
      add(name(*sends), at(site) + " waits to be sent", {name(*queued)});
    const NetInput& input = site.inputs[local];
    if (queued && !input.is_idle() && *queued != input.packet())
      add(name(*queued), at(site) + " waits in a fifo-buffer", {name(input.packet())});
  }
  void add_to(kit::Waits& waits) const {
    for (const auto& [place, wait] : by_place_)
      waits.add(place, wait.first, {wait.second.begin(), wait.second.end()});
  }

 private:
  static std::string name(PacketNumber packet) { return "packet " + std::to_string(packet); }
  static std::string at(const Site& site) { return " at site " + std::to_string(site.router.here()); }
  static std::string operator_of(const Site& site) { return "the operator of" + at(site).substr(3); }
  static void add_holder(Places& behind, const NetOutput& output) {
    if (!output.machine().is(net_output::State::free)) behind.insert(name(output.packet()));
  }
  void add(const std::string& place, const std::string& line, const Places& behind = {}) {
    auto& [lines, places] = by_place_[place];
    lines += (lines.empty() ? place : ";") + line;
    places.insert(behind.begin(), behind.end());
  }

  std::map<std::string, std::pair<std::string, Places>> by_place_;
};

}  // namespace

void Machine::add_waits(kit::Waits& waits) const {
  WaitsOfPackets all;
  for (const auto& site : sites_) {
    all.add_network(*site, topology());
    all.add_operator(*site);
  }
  all.add_to(waits);
}

std::string Machine::who_waits() const {
  const std::string text = kit::who_waits(*this);
  return text.empty() ? "nothing is under way\n" : text;
}

}  // namespace am::care
