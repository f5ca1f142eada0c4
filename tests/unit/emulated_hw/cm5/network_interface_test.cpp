// The network interface of the CM-5: criteria CM-16 to CM-24 and CM-31 (von Eicken 1993, 3.2.3, Figures 3-10 and 3-11).
#include "emulated_hw/cm5/network_interface.hpp"

#include <gtest/gtest.h>

#include <set>

#include "interfaces.hpp"

namespace am::cm5::network_interface_test {

using Nodes = test::Interfaces;
constexpr Cycle enough = 400;  // for what is under way to come

/// Whether it has been taken.
bool send(NetworkInterface& node, Side side, const Header& header, NodeNumber to, Word word = 0,
          By by = By::user) {
  node.send_first(side, header, to, by);
  for (unsigned i = 0; i < header.length; ++i) node.send_data(side, word + i, by);
  return node.status(side, by).send_ok;
}

/// CM-17, CM-18, CM-20: any length and tag by either network, word by word or with the first word beside the destination. That is stripped.
TEST(Cm5NetworkInterface, BringsWordsToTheOtherNode) {
  Nodes nodes(20);
  for (const Side side : sides) {
    for (unsigned length = 0; length <= most_words; ++length) {
      const Header header{.length = length, .tag = 3 * length};
      if (length % 2 == 0) {
        EXPECT_TRUE(send(nodes[1], side, header, 19, 100));
      } else {
        nodes[1].send_first(side, header, 19);
        for (unsigned i = 0; i < length; ++i) {
          EXPECT_FALSE(nodes[1].status(side).send_ok) << "a part of a message";
          nodes[1].send_data(side, 100 + i);
        }
        EXPECT_TRUE(nodes[1].status(side).send_ok);
      }
      EXPECT_FALSE(nodes[19].status(side).receive_ok);
      nodes.run(enough);
      for (unsigned i = 0; i < std::max(1u, length); ++i) {
        const Status status = nodes[19].status(side);
        EXPECT_TRUE(status.receive_ok && status.receive_tag == 3 * length &&
                    status.receive_length == length - i);
        EXPECT_EQ(nodes[19].receive(side), length == 0 ? 0 : 100 + i);
      }
      EXPECT_FALSE(nodes[19].status(side).receive_ok);
    }
  }
  EXPECT_THROW(nodes[1].send_first(Side::left, {.length = 6}, 19), std::invalid_argument);
  EXPECT_THROW(nodes[1].send_first(Side::left, {.tag = 16}, 19), std::invalid_argument);
}

/// CM-19: a message for whose word there is no space is dropped, whichever word that is. What had send_ok comes, and nothing else.
TEST(Cm5NetworkInterface, DropsWhatFindsTheFifoFull) {
  for (unsigned before = 0; before <= NetworkInterface::output_words; ++before) {
    for (unsigned length = 0; length <= most_words; ++length) {
      Nodes nodes(2);
      unsigned sent = 0;
      for (; sent < before; ++sent) ASSERT_TRUE(send(nodes[0], Side::left, {}, 1));
      const unsigned space = nodes[0].status(Side::left).send_space;
      EXPECT_EQ(space, NetworkInterface::output_words - before);
      const bool taken = send(nodes[0], Side::left, {.length = length, .tag = 1}, 1);
      EXPECT_EQ(taken, space > length);
      EXPECT_EQ(nodes[0].status(Side::left).send_space, space - (taken ? 1 + length : 0));
      nodes.run(enough);
      EXPECT_TRUE(send(nodes[0], Side::left, {.length = length, .tag = 2}, 1))
          << "again, when there is space";
      std::vector<unsigned> came(3);
      for (Cycle cycle = 0; cycle < 2000; ++cycle) {
        nodes.step();
        const Status status = nodes[1].status(Side::left);
        if (!status.receive_ok) continue;
        ++came[status.receive_tag];
        for (unsigned i = 0; i < std::max(1u, status.receive_length); ++i) nodes[1].receive(Side::left);
      }
      EXPECT_EQ(came, (std::vector<unsigned>{before, taken, 1}));
    }
  }
}

/// CM-19 [V]: send_space is no guarantee: the kernel may come between.
TEST(Cm5NetworkInterface, SpaceIsAHint) {
  Nodes nodes(2);
  ASSERT_TRUE(send(nodes[0], Side::left, {.length = 5}, 1));
  ASSERT_EQ(nodes[0].status(Side::left).send_space, 6u);
  nodes[0].send_lock(true);
  ASSERT_TRUE(send(nodes[0], Side::left, {.length = 5}, 1, 0, By::kernel));
  nodes[0].send_lock(false);
  EXPECT_TRUE(nodes[0].status(Side::left).send_ok) << "of the user's message, not of the kernel's";
  EXPECT_FALSE(send(nodes[0], Side::left, {.length = 5}, 1));
}

/// CM-21: to the own node, without the network, and in turns with what comes from others.
TEST(Cm5NetworkInterface, LoopsBackToTheOwnNode) {
  Nodes nodes(4);
  EXPECT_TRUE(send(nodes[2], Side::right, {.length = 5, .tag = 9}, 2, 40));
  nodes.step();
  EXPECT_EQ(nodes.networks[Side::right].under_way(), 0u);
  EXPECT_EQ(nodes[2].status(Side::right).receive_tag, 9u);
  for (Word i = 0; i < 5; ++i) EXPECT_EQ(nodes[2].receive(Side::right), 40 + i);
  unsigned own = 0;
  unsigned others = 0;
  for (Cycle cycle = 0; cycle < 5000; ++cycle) {
    send(nodes[2], Side::right, {.length = 5, .tag = 1}, 2);
    for (const NodeNumber other : {0u, 1u, 3u}) send(nodes[other], Side::right, {.length = 5}, 2);
    nodes.step();
    if (!nodes[2].status(Side::right).receive_ok) continue;
    ++(nodes[2].take(Side::right).tag == 1 ? own : others);
  }
  EXPECT_GT(own, 100u);
  EXPECT_GT(others, 100u);
}

/// CM-22, CM-31: the user reaches the nodes of the map and no others; a spare takes the place of one that is out of order. The kernel reaches
/// all.
TEST(Cm5NetworkInterface, TranslatesDestinations) {
  Nodes nodes(16);
  const std::vector<NodeNumber> map{0, 1, 9, kit::nowhere};  // 2 is out of order
  nodes[0].map(map);
  EXPECT_TRUE(send(nodes[0], Side::left, {.length = 1}, 2, 7));
  EXPECT_FALSE(send(nodes[0], Side::left, {.length = 1}, 3));
  EXPECT_FALSE(send(nodes[0], Side::left, {.length = 1}, 4)) << "is of another partition";
  EXPECT_FALSE(send(nodes[0], Side::left, {.length = 1}, 12345));
  nodes.run(enough);
  for (NodeNumber node = 0; node < 16; ++node)
    EXPECT_EQ(nodes[node].status(Side::left).receive_ok, node == 9) << node;
  nodes[0].send_lock(true);
  EXPECT_TRUE(send(nodes[0], Side::left, {.length = 1}, 4, 8, By::kernel));
  nodes.run(enough);
  EXPECT_EQ(nodes[4].receive(Side::left), 8u);
}

/// CM-23: the kernel sends a message of its own between any two of the user's stores. The user finds send_ok cleared, sends again, and
/// nothing has been mixed.
TEST(Cm5NetworkInterface, FlushesAPartialMessage) {
  for (unsigned at = 0; at <= 1 + most_words; ++at) {
    Nodes nodes(2);
    NetworkInterface& node = nodes[0];
    const auto store = [&](unsigned i) {
      if (i == at) {
        node.send_lock(true);
        EXPECT_TRUE(send(node, Side::left, {.length = 2, .tag = 15}, 1, 90, By::kernel));
        node.send_lock(false);
      }
      if (i == 0) node.send_first(Side::left, {.length = most_words, .tag = 1}, 1);
      if (i > 0 && i <= most_words) node.send_data(Side::left, i);
    };
    for (unsigned i = 0; i <= 1 + most_words; ++i) store(i);
    const bool sent = node.status(Side::left).send_ok;
    EXPECT_EQ(sent, at == 0 || at == 1 + most_words) << "between its stores it is flushed";
    nodes.run(enough);
    EXPECT_TRUE(sent || send(node, Side::left, {.length = most_words, .tag = 1}, 1, 1));
    nodes.run(enough);
    std::multiset<unsigned> came;
    while (nodes[1].status(Side::left).receive_ok) {
      const Message message = nodes[1].take(Side::left);
      came.insert(message.tag);
      EXPECT_EQ(message.words[1], message.tag == 15 ? 91u : 2u);
    }
    EXPECT_EQ(came, (std::multiset<unsigned>{1, 15}));
  }
  Nodes nodes(2);
  EXPECT_THROW(nodes[0].send_first(Side::left, {}, 1, By::kernel), std::logic_error) << "without the lock";
  nodes[0].send_lock(true);
  EXPECT_FALSE(send(nodes[0], Side::left, {.length = 1}, 1)) << "the user is locked out";
}

/// CM-20, CM-24: the user may not send what the kernel has reserved. That interrupts, and what else the kernel has chosen.
TEST(Cm5NetworkInterface, ReservedTagsAreTheKernels) {
  Nodes nodes(2);
  for (NodeNumber node = 0; node < 2; ++node) {
    nodes[node].reserve(1 << 14 | 1 << 15);
    nodes[node].interrupt_on(1 << 3);
  }
  for (unsigned tag = 0; tag < tags; ++tag) {
    const bool reserved = tag >= 14;
    EXPECT_EQ(send(nodes[0], Side::left, {.length = 1, .tag = tag}, 1), !reserved);
    if (reserved) {
      nodes[0].send_lock(true);
      EXPECT_TRUE(send(nodes[0], Side::left, {.length = 1, .tag = tag}, 1, 0, By::kernel));
      nodes[0].send_lock(false);
    }
    EXPECT_FALSE(nodes[1].interrupts(Side::left));
    nodes.run(enough);
    EXPECT_EQ(nodes[1].interrupts(Side::left), reserved || tag == 3);
    nodes[1].take(Side::left);
  }
}

/// CM-24 [V]: an interrupt comes late. A user who has seen receive_ok reads a FIFO that the kernel has emptied meanwhile, and gets an
/// exception; who looks at the tag leaves the message to the kernel.
TEST(Cm5NetworkInterface, UsersCheckTheTagFirst) {
  for (const bool checks : {false, true}) {
    Nodes nodes(2);
    nodes[1].reserve(1 << 15);
    nodes[0].send_lock(true);
    ASSERT_TRUE(send(nodes[0], Side::left, {.length = 1, .tag = 15}, 1, 0, By::kernel));
    nodes.run(enough);
    const Status seen = nodes[1].status(Side::left);
    ASSERT_TRUE(seen.receive_ok && nodes[1].interrupts(Side::left));
    nodes[1].take(Side::left);  // in the interrupt
    if (checks && seen.receive_tag == 15) continue;
    EXPECT_THROW(nodes[1].receive(Side::left), std::logic_error);
  }
}

/// CM-16 [V], C-3: two nodes that only send come to a stop, in a circle. If they receive before they send again, they never do.
TEST(Cm5NetworkInterface, NodesThatOnlySendStop) {
  for (const bool receives : {false, true}) {
    Nodes nodes(2);
    unsigned came = 0;
    for (Cycle cycle = 0; cycle < 20'000; ++cycle) {
      for (NodeNumber node = 0; node < 2; ++node) {
        send(nodes[node], Side::left, {.length = 5}, 1 - node);
        if (!receives || !nodes[node].status(Side::left).receive_ok) continue;
        nodes[node].take(Side::left);
        ++came;
      }
      nodes.step();
    }
    kit::Waits waits;
    nodes.networks[Side::left].add_waits(waits);
    for (const NetworkInterface& node : nodes.nodes) node.add_waits(waits);
    const auto circle = waits.circle();
    EXPECT_EQ(nodes.networks[Side::left].still_for() > 10'000, !receives);
    if (receives) {
      EXPECT_GT(came, 2u * 2 * 20'000 / 48 * 9 / 10) << "both links, both ways";
    } else {
      ASSERT_EQ(circle.size(), 5u) << waits.text();
      EXPECT_TRUE(waits.text().starts_with("a circle: left router 0 port 0 -> node 1 -> left router "))
          << waits.text();
    }
  }
}

}  // namespace am::cm5::network_interface_test
