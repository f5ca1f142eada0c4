#include "amsim/papers/four_issues.hpp"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "amsim/t1/experiments.hpp"
#include "emulated_hw/across/programs.hpp"
#include "emulated_hw/cm5/network_context.hpp"
#include "emulated_hw/cm5/programs/ping.hpp"
#include "emulated_hw/ncube2/kernel.hpp"
#include "emulated_hw/ncube2/machine.hpp"

namespace amsim {

namespace {

using namespace am::across;
namespace cm5 = am::cm5;
namespace ncube2 = am::ncube2;

double number(Cycle cycles) { return static_cast<double>(cycles); }

/// By traps: to keep interrupts out takes one, and so does every look (3.1.4, conclusion).
void measure_kernel(FourIssues& issues) {
  ncube2::Machine machine(1);
  ncube2::Kernel kernel(machine.node(0), {.nodes = 2, .buffers = 2});
  ncube2::Kernel other(machine.node(1), {.nodes = 2, .buffers = 2});
  const auto nothing = [](ncube2::Processor&) -> Program { co_return; };
  machine.node(0).run([&](ncube2::Processor& cpu) -> Program {
    Cycle began = machine.now();
    const auto lap = [&] { return number(machine.now() - std::exchange(began, machine.now())); };
    co_await cpu.trap(nothing(cpu));
    issues.critical_section = lap();
    co_await kernel.poll();
    issues.empty_poll = lap();
    ncube2::Sent sent{};
    co_await kernel.send({.to = 1, .at = 0, .words = 16}, ncube2::WhenBusy::fail, sent);
    began = machine.now();
    co_await kernel.send({.to = 1, .at = 20, .words = 16}, ncube2::WhenBusy::fail, sent);
    issues.refused_send = lap();
    if (sent != ncube2::Sent::busy) throw std::logic_error("ncube2: an engine that sends is not busy");
  });
  machine.run_or_throw([&] { return machine.node(0).has_ended(); });
}

}  // namespace

FourIssues four_issues(std::string_view machine) {
  constexpr unsigned short_block = 256;
  constexpr unsigned long_block = 1024;
  FourIssues issues{.block_word = number(block(machine, 2, long_block) - block(machine, 2, short_block)) /
                                  (long_block - short_block)};
  if (machine == "t1") {
    issues.critical_section = number(t1::critical_section_cost());
    issues.empty_poll = number(t1::poll_cost());
    issues.refused_send = number(t1::failed_send_cost({.scalars = 5}));
  } else if (machine == "ncube2") {
    measure_kernel(issues);
  } else if (machine == "cm5") {
    const cm5::MessageCosts costs = cm5::message_costs();
    issues.empty_poll = costs.empty_poll;
    issues.refused_send = costs.refused;
  }
  return issues;
}

NetworkSwitch network_switch() {
  constexpr NodeNumber nodes = 64;
  cm5::DataNetworks networks(nodes, 1);
  std::vector<NodeNumber> map(nodes);
  std::iota(map.begin(), map.end(), NodeNumber{0});
  std::vector<cm5::NetworkInterface> interfaces;
  for (NodeNumber node = 0; node < nodes; ++node) interfaces.emplace_back(networks, node).map(map);
  cm5::Kernels kernels(networks, interfaces, {.first = 0, .nodes = nodes});
  Cycle now = 0;
  const auto step = [&](bool sends, bool receives) {
    for (NodeNumber node = 0; node < nodes; ++node) {
      cm5::NetworkInterface& interface = interfaces[node];
      for (const cm5::Side side : cm5::sides) {
        // A node's processor moves a message in some hundred cycles; here as fast as the networks take them.
        if (receives && interface.status(side).receive_ok) (void)interface.take(side);
        if (!sends) continue;
        interface.send_first(side, {.length = 1}, (node * 29 + static_cast<NodeNumber>(now) * 7) % nodes);
        interface.send_data(side, node);
      }
    }
    kernels.step();
    for (cm5::NetworkInterface& interface : interfaces) interface.step();
    networks.step();
    ++now;
  };
  while (now < 5'000) step(true, true);
  NetworkSwitch all{.messages = networks.under_way()};
  Cycle began = now;
  kernels.begin_to_save();
  while (!kernels.have_saved()) step(false, false);
  std::vector<cm5::NodeContext> context = kernels.end_saving();
  all.save = now - began;
  began = now;
  kernels.begin_to_restore(std::move(context));
  while (kernels.left() != 0) step(false, true);
  all.restore = now - began;
  return all;
}

}  // namespace amsim
