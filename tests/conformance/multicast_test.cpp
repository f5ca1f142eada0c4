// Multicast: every member once, marked as such, from the node that sent it; to any list, with a group or without, to rows, columns and patches of a
// grid; overlapping groups under load; from the computation and, failable, from handlers; in order within a group.
#include <am/collectives.hpp>
#include <am/multicast.hpp>

#include "support/job.hpp"
#include "support/patterns.hpp"

namespace multicast_test {

using namespace test;
using Multicast = test::OnEverySubstrate;

struct Heard {
  std::map<std::uint64_t, std::uint64_t> next{};  // by sender and group: the number that must come next
  std::uint64_t messages = 0;
  std::uint64_t direct = 0;

  /// In a section: in the interrupt mode a high handler preempts low ones.
  void hear(am::Node& node, am::NodeId from, std::uint64_t group, std::uint64_t number) {
    const am::CriticalSection quiet(node);
    check_equal(number, next[from * 1000 + group]++, "the number of a multicast of one node to one group");
    ++messages;
  }
};

/// Whose payload it is, which is computed at both ends.
std::uint64_t salt(std::uint64_t group, std::uint64_t number) { return group * 1'000'003 + number; }
std::vector<std::byte> content(std::uint64_t group, std::uint64_t number, std::size_t words) {
  return patterned(4 * words, salt(group, number));
}

void low(am::Request& request, std::uint64_t group, std::uint64_t number) {
  check(request.is_multicast(), "it is marked");
  request.state<Heard>().hear(request.node(), request.from(), group, number);
}
void high(am::Reply& reply, std::uint64_t group, std::uint64_t number) {
  check(reply.is_multicast(), "it is marked");
  reply.state<Heard>().hear(reply.node(), reply.from(), group, number);
}
void low_payload(am::Request& request, std::uint64_t group, std::uint64_t number, am::Payload payload) {
  check(request.is_multicast(), "it is marked");
  check(payload.size() % 4 == 0 && is_patterned(payload.data(), payload.size(), salt(group, number)),
        "the payload without the list of members");
  request.state<Heard>().hear(request.node(), request.from(), group, number);
}
void direct(am::Request& request) {
  check(!request.is_multicast(), "a message to one is not marked");
  ++request.state<Heard>().direct;
}

/// Waits until everybody has sent all and this node has heard `expected`; then nothing more may come.
void finish(am::Node& node, const Heard& heard, std::uint64_t expected) {
  node.wait_until([&] { return heard.messages == expected; });
  node.barrier();
  for (int i = 0; i < 100; ++i) node.poll();
  check_equal(heard.messages, expected, "multicasts heard");
  node.barrier();
}

/// Some by their default handlers, which see the mark, too.
TEST_P(Multicast, EveryMemberOnceFromEveryNodeAtBothPriorities) {
  run<Heard>(8, [](am::Node& node, Heard& heard) {
    constexpr std::array<std::size_t, 9> words = {0, 1, 11, 16, 250, 251, 256, 257, 20'000};
    const std::uint64_t messages = std::max<std::uint64_t>(rounds(300), words.size());
    const am::Group all = am::Group::all(node);
    const am::Group others = all.without(node.id());
    check(all.contains(node.id()) && !others.contains(node.id()), "groups");
    node.on_default([&](am::Incoming& incoming) {
      check(incoming.is_multicast() != incoming.names<direct>(), "whether it is marked");
      incoming.run();
    });
    node.enable_active_messages(node.id() % 3 != 0);
    for (std::uint64_t i = 0; i < messages; ++i) {
      check_ok(node.multicast<low>(all, 0u, i));
      check_ok(node.multicast<high>(all, 1u, i));
      check_ok(node.multicast<low>(others, 2u, i));
      check_ok(node.multicast<low_payload>(all, 3u, i, content(3, i, words[i % words.size()])));
      check_ok(node.request<direct>((node.id() + 1) % node.size()));
    }
    node.wait_until([&] { return heard.direct == messages; });
    // From all, itself included, in three groups; from the others in one.
    finish(node, heard, 3 * 8 * messages + 7 * messages);
    check_equal(heard.direct, messages, "direct messages in between");
  });
}

// Every row and column from each node, in it or not, with the sender and without: around a ring both ways, also where both are as long.
TEST_P(Multicast, EveryRowAndColumnFromInsideAndOutside) {
  for (const auto& [rows, columns] : {std::pair{3u, 3u}, {2u, 4u}, {2u, 5u}}) {
    if (columns != 3 && test::cost_of_substrate >= 10) continue;  // none of these networks has rings
    run<Heard>(rows * columns, [rows = rows, columns = columns](am::Node& node, Heard& heard) {
      const am::Grid grid(node, rows, columns);
      std::vector<am::Group> groups;
      for (am::NodeId row = 0; row < rows; ++row) groups.push_back(grid.row(row));
      for (am::NodeId column = 0; column < columns; ++column) groups.push_back(grid.column(column));
      std::uint64_t expected = 0;
      for (std::uint64_t i = 0; i < 4; ++i) {
        for (std::size_t g = 0; g < groups.size(); ++g) {
          const auto payload = content(g, i, i * 90);
          check_ok(node.multicast<low_payload>(groups[g], g, i, payload));
          const am::Group others = groups[g].without(node.id());
          check_ok(node.multicast<high>(others, 100 + g, i));
          if (groups[g].contains(node.id())) expected += 2 * node.size() - 1;
        }
      }
      finish(node, heard, expected);
    });
  }
}

// Rectangles, and regions with holes and in pieces, from within and from beside them; of every length, by sends that wait and by
// failable ones. What is taken comes to every member, whole and in order; what is not, to nobody.
TEST_P(Multicast, OverlappingGroupsOfAnyShapeUnderLoad) {
  run<Heard>(16, [](am::Node& node, const Heard& heard) {
    const am::Grid grid(node, 4, 4);
    check_equal(grid.at(grid.row_of(node.id()), grid.column_of(node.id())), node.id(), "this node's place");
    check_throws<am::Error>([&] { static_cast<void>(grid.row(4)); }, "grid");
    check_throws<am::Error>([&] { static_cast<void>(am::Grid(node, 4, 5)); }, "grid");
    const auto groups_of = [&](am::NodeId sender) {
      return std::array{am::Group{sender},
                        am::Group::all(node),
                        grid.row(grid.row_of(sender)),
                        grid.column(grid.column_of(sender)),
                        grid.patch(1, 1, 2, 3),
                        grid.patch(2, 2, 1, 0),
                        am::Group{0, 1, 2, 3, 4, 8},                // an L
                        am::Group{1, 4, 5, 6, 9},                   // a cross
                        am::Group{0, 1, 2, 3, 4, 7, 8, 9, 10, 11},  // a frame
                        am::Group{0, 5, 10},                        // a diagonal
                        am::Group{1, 2, 5, 6, 10, 11},              // a stair
                        am::Group{11, 0, 3, 8, 3, 15}};
    };
    const auto groups = groups_of(node.id());
    check(groups[2].size() == 4 && groups[3].size() == 4 && groups[4].size() == 6, "members");
    using Taken = std::array<std::uint64_t, 12>;
    Taken taken{};
    test::Random random(test::mix(test::seed(), node.id()));
    for (std::uint64_t i = 0; i < rounds(600); ++i) {
      const std::size_t g = random.below(groups.size());
      const std::size_t words = random.one_in(8) ? 250 + random.below(2'750) : random.below(250);
      const auto payload = content(g, taken[g], words);
      am::Status status = am::Status::ok;
      switch (random.below(3)) {
        case 0:
          check_ok(node.multicast<low>(groups[g], g, taken[g]));
          break;
        case 1:
          check_ok(node.multicast<low_payload>(groups[g], g, taken[g], payload));
          break;
        default:
          status = node.try_multicast<low_payload>(groups[g], g, taken[g], payload);
          check(status == am::Status::ok || status == am::Status::again, "ok or again");
      }
      taken[g] += status == am::Status::ok ? 1 : 0;
      if (random.one_in(3)) node.poll();
    }
    const std::vector<Taken> of_all = am::all_gather(node, taken);
    std::uint64_t expected = 0;
    for (am::NodeId sender = 0; sender < node.size(); ++sender) {
      const auto theirs = groups_of(sender);
      for (std::size_t g = 0; g < theirs.size(); ++g)
        expected += theirs[g].contains(node.id()) ? of_all[sender][g] : 0;
    }
    finish(node, heard, expected);
  });
}

// A member that takes nothing makes the answer `again`, for the whole multicast: whoever gets any gets all that were taken.
TEST_P(Multicast, AMemberThatTakesNothingRefusesItWhole) {
  if (GetParam().network->name == "ofi_shm")
    GTEST_SKIP() << "more letters than it has room for lie unread (libfabric 1.17): the node says so, and "
                    "loses the others";
  run<Heard>(8, [](am::Node& node, Heard& heard) {
    const am::Grid grid(node, 2, 4);
    if (node.id() == 2) node.enable_event(am::Event::low_message, false);
    node.barrier();
    std::uint64_t sent = 0;
    if (node.id() == 0) {
      sent = test::fill([&](std::uint64_t number) {
        node.poll();
        return node.try_multicast<low_payload>(grid.row(), 0u, number,
                                               content(0, number, number % 7 == 3 ? 600 : 10));
      });
      check_ok(node.multicast<high>(grid.row().without(0), 1u, 0u), "high is not held up");
    }
    if (node.id() == 1 || node.id() == 2) node.wait_until([&] { return heard.next.contains(1); });
    node.barrier();
    if (node.id() == 2) node.enable_event(am::Event::low_message, true);
    const std::uint64_t taken = am::broadcast(node, sent, 0);
    finish(node, heard, node.id() == 0 ? taken : node.id() < 4 ? taken + 1 : 0);
  });
}

// A request makes its receiver tell everybody, without waiting; what does not go now goes from the computation.
void count(am::Request& request) { ++request.state<Heard>().messages; }
void tell_all(am::Request& request) {
  const am::Status status = request.node().try_multicast<count>(am::Group::all(request.node()));
  if (status == am::Status::ok) return;
  check(status == am::Status::again, "ok or again");
  request.post(
      [](am::Node& node) { check_ok(node.multicast<count>(am::Group::all(node)), "multicast from a post"); });
}

TEST_P(Multicast, FromHandlers) {
  run<Heard>(4, [](am::Node& node, Heard& heard) {
    const std::uint64_t messages = rounds(500);
    for (std::uint64_t i = 0; i < messages; ++i) check_ok(node.request<tell_all>((node.id() + 1) % 4));
    finish(node, heard, 4 * messages);
  });
}

// Full low networks everywhere, replies to every multicast, and it still ends.
void echoed(am::Reply& reply) { ++reply.state<Heard>().direct; }
void echo(am::Request& request) {
  ++request.state<Heard>().messages;
  check_ok(request.reply<echoed>());
}

TEST_P(Multicast, AllToAllWithRepliesEnds) {
  run<Heard>(8, [](am::Node& node, Heard& heard) {
    const std::uint64_t messages = rounds(400);
    const am::Group all = am::Group::all(node);
    for (std::uint64_t i = 0; i < messages; ++i) check_ok(node.multicast<echo>(all));
    node.wait_until([&] { return heard.direct == 8 * messages; });
    finish(node, heard, 8 * messages);
  });
}

// Without a group, from anybody: in any order, some twice, more than there are nodes, none at all.
TEST_P(Multicast, ToAnyListOfNodes) {
  run<Heard>(8, [](am::Node& node, const Heard& heard) {
    const std::uint64_t seed = am::broadcast(node, test::seed(), 0);
    const std::uint64_t messages = std::min<std::uint64_t>(rounds(300), 999);
    const auto list_of = [&](am::NodeId sender, std::uint64_t number) {
      test::Random random(test::mix(seed, sender * 1000 + number));
      std::vector<am::NodeId> list(random.below(12));
      for (am::NodeId& member : list) member = static_cast<am::NodeId>(random.below(8));
      return list;
    };
    std::uint64_t expected = 0;
    for (std::uint64_t number = 0; number < messages; ++number) {
      const auto list = list_of(node.id(), number);
      if (number % 3 == 0) check_ok(node.multicast<low>(list, number, 0u));
      if (number % 3 == 1)
        check_ok(node.multicast<low_payload>(list, number, 0u, content(number, 0, number * 3)));
      am::Status status = number % 3 == 2 ? am::Status::again : am::Status::ok;
      for (; status == am::Status::again; node.poll())
        status = node.try_multicast<high>(std::span(list), number, 0u);
      check_ok(status);
      for (am::NodeId sender = 0; sender < node.size(); ++sender)
        expected += std::ranges::count(list_of(sender, number), node.id()) != 0 ? 1 : 0;
    }
    finish(node, heard, expected);
  });
}

TEST_P(Multicast, ToNobodyAndToAnUnknownMember) {
  run<Heard>(2, [](am::Node& node, const Heard& heard) {
    check_ok(node.multicast<low>(am::Group{}, 0u, 0u), "to nobody");
    check_ok(node.try_multicast<low>(std::vector<am::NodeId>{}, 0u, 0u), "to nobody");
    const am::NodeId unknown[] = {7, 0, 1};
    check_throws<am::Error>([&] { static_cast<void>(node.multicast<low>(unknown, 0u, 0u)); }, "7");
    check(node.try_multicast<low>(unknown, 0u, 0u) == am::Status::no_such_node, "to a list");
    check(node.try_multicast<low>(am::Group{0, 1, 7}, 0u, 0u) == am::Status::no_such_node, "to a group");
    finish(node, heard, 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Multicast, test::cells_of<Multicast>(), test::name_of);

}  // namespace multicast_test
