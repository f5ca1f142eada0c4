// Return to sender on the M-Machine (thesis, 3.3.2): the protocol in all its interleavings, small, and its program on machines whose
// nodes refuse what they like.
#include "emulated_hw/mmachine/programs/return_to_sender.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/gtlb_misses.hpp"
#include "support/explorer.hpp"
#include "support/random.hpp"

namespace return_to_sender_test {

using namespace am::mmachine;
using am::kit::NodeNumber;

// -- all interleavings

/// Two senders and a receiver that may refuse. Threads are the nodes; which of them goes on, and what the receiver refuses, is tried in all
/// ways. The network holds few requests; replies are always taken.
class Protocol {
 public:
  static constexpr unsigned senders = 2;
  static constexpr unsigned buffers = 2;
  static constexpr unsigned to_send = 6;
  static constexpr unsigned network = 3;   // requests that it holds
  static constexpr unsigned refusals = 5;  // at most

  /// `counted`: a message is sent only where OMBC has a buffer; `given_back`: an acknowledgement gives it back.
  Protocol(bool counted, bool given_back) : counted_(counted), given_back_(given_back) {}

  [[nodiscard]] bool runs(unsigned thread) const {
    return thread == receiver ? consumed_ != senders * to_send : of_[thread].done != to_send;
  }
  void step(unsigned thread, test::Access& access) {
    if (thread == receiver) {
      receive(access);
    } else {
      send(of_[thread], access);
    }
  }
  [[nodiscard]] bool good_end() const {
    for (const Sender& sender : of_) {
      if (sender.done != to_send || sender.free != buffers || sender.kept != 0) return false;
    }
    return consumed_ == senders * to_send;
  }
  void fold(test::Digest& digest) const {
    digest.add(consumed_ << 8 | refused_);
    for (const Sender& sender : of_) {
      digest.add(sender.sent << 24 | sender.done << 16 | sender.free << 8 | sender.kept);
      digest.add(sender.requests << 16 | sender.acknowledged << 8 | sender.bounced);
    }
  }

 private:
  static constexpr unsigned receiver = senders;
  struct Sender {
    unsigned sent = 0, done = 0, free = buffers;
    unsigned kept = 0;  // in bounce buffers
    // under way
    unsigned requests = 0, acknowledged = 0, bounced = 0;
  };

  void receive(test::Access& access) {
    const unsigned first = access.choose(senders);
    for (unsigned i = 0; i < senders; ++i) {
      Sender& sender = of_[(first + i) % senders];
      if (sender.requests == 0) continue;
      --sender.requests;
      const bool refuses = refused_ != refusals && access.choose(2) == 1;
      ++(refuses ? refused_ : consumed_);
      ++(refuses ? sender.bounced : sender.acknowledged);
      return;
    }
  }
  void send(Sender& sender, test::Access& access) {
    const bool replied = sender.acknowledged != 0 || sender.bounced != 0;
    if (replied && access.choose(2) == 0) return take_reply(sender, access);
    if (of_[0].requests + of_[1].requests == network) return;
    if (sender.kept != 0 && access.choose(2) == 0) {
      --sender.kept;
    } else if (sender.sent != to_send && (sender.free != 0 || !counted_)) {
      ++sender.sent;
      if (counted_) --sender.free;
    } else {
      return;
    }
    ++sender.requests;
  }
  void take_reply(Sender& sender, test::Access& access) const {
    if (sender.acknowledged != 0) {
      --sender.acknowledged;
      ++sender.done;
      if (given_back_ && counted_) ++sender.free;
    } else {
      --sender.bounced;
      if (++sender.kept > buffers) access.fail("what came back finds no buffer");
    }
  }

  bool counted_;
  bool given_back_;
  unsigned consumed_ = 0, refused_ = 0;
  std::array<Sender, senders> of_{};
};

test::Verdict explore(bool counted, bool given_back) {
  return test::Explorer(Protocol(counted, given_back), test::Memory(3, {})).run();
}

TEST(ReturnToSenderProtocol, EveryMessageHasABufferAndAllAreConsumed) {
  const test::Verdict verdict = explore(true, true);
  EXPECT_TRUE(verdict.holds) << verdict;
  EXPECT_GT(verdict.states, 10'000u);
}
TEST(ReturnToSenderProtocol, WithoutTheCounterAMessageFindsNoBuffer) {
  const test::Verdict verdict = explore(false, true);
  EXPECT_FALSE(verdict.holds);
  EXPECT_NE(verdict.why.find("finds no buffer"), std::string::npos) << verdict;
}
TEST(ReturnToSenderProtocol, WithoutAcknowledgementsSendersStop) { EXPECT_FALSE(explore(true, false).holds); }

// -- on machines

constexpr std::uint64_t take_address = 0x100;

/// Nodes that have room for few messages at a time, and refuse the others.
class Refusing {
 public:
  Refusing(unsigned width, unsigned height, unsigned buffers) : machine({.width = width, .height = height}) {
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
    const Word handler{pointer_bits(PointerType::execute_system, 43, take_address), true};
    co_await protocol.read(thread, handler, message);
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
  Program send(Thread& thread, NodeNumber node, unsigned count) {
    test::Random random(node + 1);
    for (unsigned i = 0; i < count; ++i) {
      const std::uint64_t number = node * 1000 + i;
      const auto argcount = static_cast<unsigned>(number % (most_body - 1) + 1);
      for (unsigned word = 0; word < argcount; ++word) thread.integers[word] = {number + word, false};
      co_await thread.cycles(argcount);
      const std::uint64_t to = hot ? 0 : random.below(machine.nodes());
      co_await thread.send(
          {.instruction = Send::isnd0p,
           .destination = {nid_of(machine.mesh().place_of(static_cast<NodeNumber>(to))), false},
           .handler = {pointer_bits(PointerType::execute_message, 43, take_address), true},
           .argcount = argcount});
      co_await thread.full(0);
    }
  }
  void run(unsigned count) {
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      machine.chip(node).thread(0, 0).run(
          [this, node, count](Thread& thread) { return send(thread, node, count); }, Privilege::system);
    }
    const std::uint64_t all = std::uint64_t{machine.nodes()} * count;
    ASSERT_TRUE(machine.run_until([&] { return taken.size() == all && machine.mesh().under_way() == 0; }))
        << machine.mesh().who_waits();
    for (int cycle = 0; cycle < 100; ++cycle) machine.step();  // the last acknowledgements
    for (const auto& [number, times] : taken) EXPECT_EQ(times, 1u) << number;
  }

  std::function<bool(NodeNumber)> accepts = [](NodeNumber) { return true; };
  bool hot = false;  // all to node 0
  Machine machine;
  std::vector<std::unique_ptr<ReturnToSender>> protocols;
  std::map<std::uint64_t, unsigned> taken;
};

TEST(ReturnToSender, AllIsConsumedOnceHoweverMuchIsRefused) {
  constexpr unsigned buffers = 4;
  for (const bool hot : {false, true}) {
    Refusing nodes(3, 3, buffers);
    test::Random random(test::seed());
    nodes.hot = hot;
    nodes.accepts = [&](NodeNumber) { return random.one_in(3); };
    nodes.run(40);
    std::uint64_t bounces = 0;
    for (NodeNumber node = 0; node < 9; ++node) {
      bounces += nodes.protocols[node]->bounces();
      EXPECT_LE(nodes.protocols[node]->most_in_buffers(), buffers);
      EXPECT_EQ(nodes.protocols[node]->in_buffers(), 0u);
      EXPECT_EQ(nodes.machine.chip(node).output().buffers(), buffers);
    }
    EXPECT_GT(bounces, 200u);
  }
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
      for (unsigned cluster = 0; cluster < Chip::clusters; ++cluster) {
        chip.thread(cluster, 2)
            .run(
                [first = (node * 3 + cluster) * 1000](Thread& thread) -> Program {
                  for (std::uint64_t number = first; number < first + each; ++number) {
                    const auto argcount = static_cast<unsigned>(number % (most_body - 1) + 1);
                    for (unsigned word = 0; word < argcount; ++word)
                      thread.floating[word] = {number + word, false};
                    const std::uint64_t page = number * 7 % 16;
                    co_await thread.send(
                        {.instruction = number % 2 == 0 ? Send::fsnd0 : Send::fsnd0o,
                         .destination = {pointer_bits(PointerType::read_write, 0, page << Gtlb::page_bits),
                                         true},
                         .handler = {pointer_bits(PointerType::execute_message, 43, take_address), true},
                         .argcount = argcount});
                    co_await thread.full(0);
                  }
                },
                Privilege::user);
      }
    }
    ASSERT_TRUE(nodes.machine.run_until([&] { return nodes.taken.size() == 12 * each; }))
        << nodes.machine.mesh().who_waits();
    for (int cycle = 0; cycle < 2000; ++cycle) nodes.machine.step();
    for (const auto& [number, times] : nodes.taken) EXPECT_EQ(times, 1u) << number;
    EXPECT_GT(misses.sent(), 0u);
    for (NodeNumber node = 0; node < 4; ++node) {
      EXPECT_LE(nodes.protocols[node]->most_in_buffers(), buffers);
      EXPECT_EQ(nodes.machine.chip(node).output().buffers(), buffers);
      EXPECT_FALSE(nodes.machine.chip(node).output().has_missed());
    }
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
            co_await thread.send({.instruction = Send::isnd1pnt,
                                  .destination = {1, false},
                                  .handler = {pointer_bits(PointerType::execute_message, 43, address), true},
                                  .argcount = words});
          }
        },
        Privilege::system);
    for (int cycle = 0; cycle < 100; ++cycle) nodes.machine.step();
    const bool comes_back = words >= 2;
    EXPECT_EQ(nodes.protocols[1]->bounces(), comes_back ? 1u : 0u) << words;
    EXPECT_EQ(nodes.protocols[1]->lost(), comes_back ? 1u : 0u) << "its handler is a number";
    EXPECT_EQ(receiver.counts().exceptions, (comes_back ? 0u : 1u) + (words > most_body ? 1u : 0u)) << words;
  }
}

/// A node that takes nothing holds up those who send to it, after so many messages, and nobody else.
TEST(ReturnToSender, WhoTakesNothingThrottlesItsSendersAlone) {
  constexpr unsigned buffers = 3;
  Refusing nodes(2, 2, buffers);
  bool takes = false;
  nodes.accepts = [&](NodeNumber node) { return node != 0 || takes; };
  unsigned sent = 0, others = 0;
  const auto to = [&](NodeNumber node, unsigned& count) {
    return [&nodes, &count, node](Thread& thread) -> Program {
      for (std::uint64_t number = node * 1000;; ++number) {
        const auto argcount = static_cast<unsigned>(number % (most_body - 1) + 1);
        for (unsigned word = 0; word < argcount; ++word) thread.integers[word] = {number + word, false};
        co_await thread.send({.instruction = Send::isnd0p,
                              .destination = {nid_of(nodes.machine.mesh().place_of(node)), false},
                              .handler = {pointer_bits(PointerType::execute_message, 43, take_address), true},
                              .argcount = argcount});
        co_await thread.full(0);
        ++count;
      }
    };
  };
  nodes.machine.chip(3).thread(0, 0).run(to(0, sent), Privilege::system);
  nodes.machine.chip(2).thread(0, 0).run(to(1, others), Privilege::system);
  for (int cycle = 0; cycle < 20'000; ++cycle) nodes.machine.step();
  EXPECT_EQ(sent, buffers);
  EXPECT_GT(others, 300u);
  takes = true;
  for (int cycle = 0; cycle < 20'000; ++cycle) nodes.machine.step();
  EXPECT_GT(sent, 100u);
}

}  // namespace return_to_sender_test
