// Return to sender on the M-Machine (thesis, 3.3.2): its program on machines whose nodes refuse what they like.
#include "emulated_hw/mmachine/programs/return_to_sender.hpp"

#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/gtlb_misses.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"
#include "unit/emulated_hw/orders.hpp"

namespace return_to_sender_test {

using namespace am::mmachine;
using am::kit::NodeNumber;

constexpr std::uint64_t take_address = 0x100;

/// The body of a message: its length depends on its number, with which it begins.
unsigned write_body(std::array<Word, most_bounced_body>& registers, std::uint64_t number) {
  const auto argcount = static_cast<unsigned>(number % (most_body - 1) + 1);
  for (unsigned word = 0; word < argcount; ++word) registers[word] = {number + word, false};
  return argcount;
}

/// Nodes that have room for few messages at a time, and refuse the others.
class Refusing {
 public:
  Refusing(unsigned width, unsigned height, unsigned buffers)
      : machine({.width = width, .height = height}), sent(machine.nodes()), buffers_(buffers) {
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      Chip& chip = machine.chip(node);
      protocols.push_back(std::make_unique<ReturnToSender>(
          chip, ReturnToSender::Addresses{.acknowledged = 0x200, .bounced = 0x300}, buffers));
      chip.place(take_address, [this, node](Thread& thread) { return take(thread, node); });
      chip.thread(0, 1).run([this, node](Thread& thread) { return protocols[node]->send_again(thread); },
                            Privilege::system);
    }
  }

  Program take(Thread& thread, NodeNumber node) {
    ReturnToSender& protocol = *protocols[node];
    ReturnToSender::Read message;
    co_await protocol.read(thread, pointer_to(PointerType::execute_system, take_address), message);
    if (!accepts(node)) {
      co_await protocol.bounce(thread, message);
      co_return;
    }
    EXPECT_EQ(message.argcount, message.body[0].bits % (most_body - 1) + 1);
    for (unsigned word = 1; word < message.argcount; ++word) {
      EXPECT_EQ(message.body[word].bits, message.body[0].bits + word);
    }
    ++taken[message.body[0].bits];
    co_await protocol.acknowledge(thread, message.sender);
  }
  /// From the first slot of a cluster, messages of so many numbers; `what` says by which instruction and where to.
  void send(NodeNumber node, unsigned cluster, std::uint64_t first, std::uint64_t count,
            const std::function<Thread::Sent(std::uint64_t)>& what, Privilege privilege = Privilege::system) {
    machine.chip(node)
        .thread(cluster, 0)
        .run(
            [=, this](Thread& thread) -> Program {
              for (std::uint64_t number = first; number != first + count; ++number) {
                Thread::Sent message = what(number);
                const bool is_floating = send_instruction(message.instruction).is_floating;
                message.handler = pointer_to(PointerType::execute_message, take_address);
                message.argcount = write_body(is_floating ? thread.floating : thread.integers, number);
                co_await thread.cycles(message.argcount);
                co_await thread.send(message);
                co_await thread.full(0);
                ++sent[node];
              }
            },
            privilege);
  }
  Thread::Sent to(NodeNumber node) {
    return {.instruction = Send::isnd0p, .destination = {nid_of(machine.mesh().place_of(node)), false}};
  }
  /// Each sends 40, to others at random or to node 0.
  void send_from_all(bool to_one) {
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      const auto what = [this, to_one, node](std::uint64_t number) {
        return to(to_one ? 0 : static_cast<NodeNumber>(test::mix(node, number) % machine.nodes()));
      };
      send(node, 0, node * 1000, 40, what);
    }
  }
  void all_is_taken_once(std::size_t all) {
    ASSERT_TRUE(machine.run_until([&] { return taken.size() == all; })) << machine.who_waits();
    for (int cycle = 0; cycle < 2000; ++cycle) machine.step();  // the last acknowledgements
    for (const auto& [number, times] : taken) EXPECT_EQ(times, 1u) << number;
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      EXPECT_LE(protocols[node]->most_in_buffers(), buffers_);
      EXPECT_EQ(protocols[node]->in_buffers(), 0u);
      EXPECT_EQ(machine.chip(node).output().buffers(), buffers_);
      EXPECT_FALSE(machine.chip(node).output().has_missed());
    }
  }

  std::function<bool(NodeNumber)> accepts = [](NodeNumber) { return true; };
  Machine machine;
  std::vector<std::unique_ptr<ReturnToSender>> protocols;
  std::map<std::uint64_t, unsigned> taken;
  std::vector<unsigned> sent;  // by node

 private:
  const unsigned buffers_;
};

TEST(ReturnToSender, AllIsConsumedOnceHoweverMuchIsRefused) {
  for (const bool to_one : {false, true}) {
    Refusing nodes(3, 3, 4);
    test::Random random(test::seed());
    nodes.accepts = [&](NodeNumber) { return random.one_in(3); };
    nodes.send_from_all(to_one);
    nodes.all_is_taken_once(9 * 40);
    std::uint64_t bounces = 0;
    for (const auto& protocol : nodes.protocols) bounces += protocol->bounces();
    EXPECT_GT(bounces, 200u);
  }
}

TEST(ReturnToSender, NobodySeesInWhichOrderNodesAreStepped) {
  test::expect_the_same_in_any_order(9, 1, [](auto next) {
    Refusing nodes(3, 3, 4);
    std::array<unsigned, 9> asked{};
    nodes.accepts = [&](NodeNumber node) { return ++asked[node] % 3 == 0; };
    nodes.send_from_all(false);
    for (int i = 0; i < 20'000; ++i) nodes.machine.step(next());
    EXPECT_GT(nodes.taken.size(), 100u);
    return nodes.machine.mesh().fingerprint();
  });
}

/// Users' messages whose translation is missing, few buffers, refusals and long wires at once.
TEST(ReturnToSender, MessagesThatMissHaveTheirBuffersToo) {
  constexpr unsigned each = 30;
  for (const unsigned buffers : {1u, 3u}) {
    Refusing nodes(2, 2, buffers);
    test::Random random(test::seed());
    nodes.accepts = [&](NodeNumber) { return random.one_in(3); };
    GtlbMisses misses([](std::uint64_t address) -> std::optional<Gtlb::Entry> {
      const std::uint64_t page = address >> Gtlb::page_bits;
      const auto bit = [page](unsigned at) { return static_cast<std::uint8_t>(page >> at & 1); };
      return Gtlb::Entry{.valid = true, .base = {bit(0), bit(1)}, .tag = page, .mask = ~std::uint64_t{0}};
    });
    for (NodeNumber node = 0; node < 4; ++node) {
      Chip& chip = nodes.machine.chip(node);
      chip.delay(buffers * 20 - 20);
      chip.thread(Chip::event_cluster, Chip::reserved_slot)
          .run([&](Thread& thread) { return misses.serve(thread); }, Privilege::system);
      const auto what = [](std::uint64_t number) -> Thread::Sent {
        return {.instruction = number % 2 == 0 ? Send::fsnd0 : Send::fsnd0o,
                .destination = pointer_to(PointerType::read_write, number * 7 % 16 << Gtlb::page_bits)};
      };
      for (unsigned cluster = 0; cluster < Chip::clusters; ++cluster)
        nodes.send(node, cluster, (node * 3 + cluster) * 1000, each, what, Privilege::user);
    }
    nodes.all_is_taken_once(12 * each);
    EXPECT_GT(misses.sent(), 0u);
  }
}

/// What only the system can send, and never does: it is refused as any malformed message (5.2.4), or is not sent again.
TEST(ReturnToSender, WhatNobodyHasBouncedIsRefused) {
  for (const unsigned words : {0u, 1u, 2u, 12u}) {
    Refusing nodes(2, 1, 4);
    Chip& receiver = nodes.machine.chip(1);
    receiver.place(0x400, [&](Thread& thread) -> Program {
      ReturnToSender::Read message;
      co_await nodes.protocols[1]->read(thread, {}, message);
      co_await nodes.protocols[1]->bounce(thread, message);
    });
    nodes.machine.chip(0).thread(0, 0).run(
        [words](Thread& thread) -> Program {
          for (const std::uint64_t address : {0x300u, 0x400u}) {
            co_await thread.send(
                {Send::isnd1pnt, {1, false}, pointer_to(PointerType::execute_message, address), words});
          }
        },
        Privilege::system);
    for (int cycle = 0; cycle < 100; ++cycle) nodes.machine.step();
    const bool comes_back = words >= 2;
    EXPECT_EQ(nodes.protocols[1]->bounces(), comes_back ? 1u : 0u) << words;
    EXPECT_EQ(nodes.protocols[1]->lost(), comes_back ? 1u : 0u) << "its handler is a number";
    EXPECT_EQ(receiver.exceptions(), (comes_back ? 0u : 1u) + (words > most_body ? 1u : 0u)) << words;
  }
}

/// A node that takes nothing holds up those who send to it, after so many messages, and nobody else.
TEST(ReturnToSender, WhoTakesNothingThrottlesItsSendersAlone) {
  constexpr unsigned buffers = 3;
  Refusing nodes(2, 2, buffers);
  bool takes = false;
  nodes.accepts = [&](NodeNumber node) { return node != 0 || takes; };
  constexpr std::uint64_t no_end = ~std::uint64_t{0};
  nodes.send(3, 0, 0, no_end, [&](std::uint64_t) { return nodes.to(0); });
  nodes.send(2, 0, 1'000'000, no_end, [&](std::uint64_t) { return nodes.to(1); });
  for (int cycle = 0; cycle < 20'000; ++cycle) nodes.machine.step();
  EXPECT_EQ(nodes.sent[3], buffers);
  EXPECT_GT(nodes.sent[2], 300u);
  takes = true;
  for (int cycle = 0; cycle < 20'000; ++cycle) nodes.machine.step();
  EXPECT_GT(nodes.sent[3], 100u);
}

}  // namespace return_to_sender_test
