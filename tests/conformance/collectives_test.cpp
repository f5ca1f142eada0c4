// Operations of all nodes together: the barrier, broadcast, reductions, gathering.
#include <am/collectives.hpp>

#include <am/counters.hpp>
#include <am/global.hpp>
#include <cmath>

#include "core/together/collectives.hpp"
#include "support/job.hpp"

namespace collectives_test {

using am::Node;
using am::NodeId;
using namespace test;
using Barrier = test::OnEverySubstrate;
using Collectives = test::OnEverySubstrate;
using CollectivesOfManyNodes = test::OnManyNodes;

constexpr NodeId most_nodes = 17;

/// Lets a random time pass, in polls, so that the nodes do not go in step.
void stray(Node& node, test::Random& random) {
  const std::uint64_t polls = random.one_in(8) ? random.below(200) : random.below(4);
  for (std::uint64_t i = 0; i < polls; ++i) {
    node.poll();
    if (i % 16 == 0) std::this_thread::yield();
  }
}

test::Random own_random(const Node& node) { return test::Random(test::mix(test::seed(), node.id() + 1)); }

void check_barriers(Node& node, std::uint64_t total) {
  const auto entered = am::allocate_symmetric<std::uint64_t>(node).on(0);
  test::Random random = own_random(node);
  for (std::uint64_t i = 1; i <= total; ++i) {
    am::fetch_add(node, entered, 1);
    node.barrier();
    const std::uint64_t seen = am::get(node, entered);
    check(seen >= i * node.size(), "nobody leaves before all have entered");
    check(seen < (i + 1) * node.size(), "nobody is two barriers ahead");
    stray(node, random);
  }
  node.barrier();
}

TEST_P(Barrier, LetsNobodyOutBeforeAllAreIn) {
  for (const NodeId n : {1, 2, 3, 8}) run(n, [](Node& node) { check_barriers(node, rounds(600)); });
}

TEST_P(Barrier, ShowsEverythingThatWasPutBefore) {
  run(4, [](Node& node) {
    const auto parts = am::allocate_symmetric<std::uint64_t>(node, 4);
    for (std::uint64_t i = 1; i <= rounds(2'000); ++i) {
      for (NodeId to = 0; to < node.size(); ++to) am::put(node, parts.on(to) + node.id(), i);
      node.barrier();
      for (NodeId from = 0; from < node.size(); ++from)
        check_equal(parts.local()[from], i, "a plain load after the barrier");
      node.barrier();
    }
  });
}

struct Questions {
  std::uint64_t answers = 0;
};
void answer(am::Reply& reply) { ++reply.state<Questions>().answers; }
void ask(am::Request& request) { request.reply<answer>(); }

TEST_P(Barrier, RunsHandlersMeanwhile) {
  run<Questions>(4, [](Node& node, Questions& questions) {
    node.barrier();
    for (std::uint64_t i = 1; node.id() == 0 && i <= rounds(5'000); ++i) {
      for (NodeId to = 1; to < node.size(); ++to) check_ok(node.request<ask>(to));
      node.wait_until([&] { return questions.answers == (node.size() - 1) * i; });
    }
    node.barrier();
  });
}

TEST_P(Barrier, WakesThoseWhoSleepInIt) {
  run(4, [](Node& node) {
    test::Random random(test::seed());
    for (int i = 0; i < 20; ++i) {
      const auto last = static_cast<NodeId>(random.below(node.size()));
      for (NodeId peer = 0; node.id() == last && peer < node.size(); ++peer) {
        if (peer == last || !node.engine().board().is_here(peer)) continue;
        const auto& asleep = node.engine().board().card(peer).alarm;
        while (asleep.load() != static_cast<std::uint32_t>(am::host::Alarm::sleeper))
          std::this_thread::yield();
      }
      node.barrier();
    }
  });
}

TEST_P(Barrier, SaysWhoHasLeftInsteadOfWaitingForIt) {
  run(2, [](Node& node) {
    node.barrier();
    if (node.id() == 1) return;
    const std::string pid = std::to_string(node.engine().board().card(1).pid);
    for (int i = 0; i < 3; ++i) check_throws<am::Error>([&] { node.barrier(); }, "node 1 (pid " + pid);
    check_throws<am::Error>([&] { node.barrier(); }, "barrier at node 0");
    check_throws<am::Error>([&] { node.barrier(); }, "has left the job");
    check_throws<am::Error>([&] { static_cast<void>(am::all_reduce(node, 1, std::plus<>())); },
                            "node 1 (pid " + pid);
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Barrier, test::cells_of<Barrier>(), test::name_of);

void barrier_here(am::Request& request) { request.node().barrier(); }
void broadcast_here(am::Request& request) { static_cast<void>(am::broadcast(request.node(), 1)); }

template <auto H>
void run_in_handler() {
  test::run_alone([](Node& node) {
    static_cast<void>(node.request<H>(0));
    node.wait_until([] { return false; });
  });
}

TEST(BarrierDeath, InAHandlerNamesTheHandler) {
  EXPECT_DEATH(run_in_handler<barrier_here>(), "barrier inside handler .*barrier_here");
  EXPECT_DEATH(run_in_handler<broadcast_here>(), "broadcast inside handler .*broadcast_here");
}

struct Ends {
  int others = 0;
  void end(am::Request&) { ++others; }
};

/// One dies in the middle; the survivors are told, in whatever they wait. Nobody leaves before all have been told: that would be news, too.
TEST(DeadNode, EndsBarriersAndCollectivesOfTheOthers) {
  const auto body = [](Node& node, const Ends& ends) {
    node.on_peer_death([](Node&, NodeId) {});
    node.barrier();
    if (node.id() == 3) std::raise(SIGKILL);
    const auto forever = [&](auto f) {
      check_throws<am::Error>(
          [&] {
            for (;;) f();
          },
          "node 3 (pid");
    };
    forever([&] { static_cast<void>(am::all_reduce(node, 1, std::plus<>())); });
    forever([&] { node.barrier(); });
    check_throws<am::Error>([&] { node.barrier(); }, "died");
    for (NodeId other = 0; other < 3; ++other) {
      if (other != node.id()) check_ok(node.request<&Ends::end>(other));
    }
    node.wait_until([&] { return ends.others == 2; });
  };
  test::run_with_killed(4, 3, test::with_state<Ends>(body));
}

/// The nodes [first, last], as a value that can only be put together in order.
struct Interval {
  NodeId first = 0;
  NodeId last = 0;
  bool whole = true;

  static Interval joined(const Interval& a, const Interval& b) {
    return {a.first, b.last, a.whole && b.whole && a.last + 1 == b.first};
  }
  void check_all(const Node& node) const {
    check(whole && first == 0 && last == node.size() - 1, "the values of all nodes, in order");
  }
};

void check_all_collectives(Node& node) {
  const NodeId n = node.size();
  const Interval self{node.id(), node.id()};
  for (NodeId root = 0; root < n; ++root) {
    check_equal(am::broadcast(node, 1000 + node.id(), root), 1000 + root, "broadcast");
    const auto interval = am::reduce(node, self, Interval::joined, root);
    check_equal(interval.has_value(), node.id() == root, "only the root has the result");
    if (interval) interval->check_all(node);
    std::array<std::uint16_t, 3> range{1, static_cast<std::uint16_t>(node.id()), 7};
    am::reduce(
        node, std::span(range), [](unsigned a, unsigned b) { return static_cast<std::uint16_t>(a + b); },
        root);
    if (node.id() == root)
      check(range[0] == n && range[1] == n * (n - 1) / 2 && range[2] == 7 * n, "reduced range");
  }
  am::all_reduce(node, self, Interval::joined).check_all(node);
  const std::vector<Interval> all = am::all_gather(node, self);
  check_equal(all.size(), n, "one of each");
  for (NodeId id = 0; id < n; ++id) check(all[id].first == id && all[id].last == id, "each in its place");
  std::vector<bool> odd = am::all_gather(node, node.id() % 2 == 1);
  for (NodeId id = 0; id < n; ++id) check(odd[id] == (id % 2 == 1), "also of bools");
}

TEST_P(Collectives, WorkForEveryNumberOfNodesAndEveryRoot) {
  for (NodeId n = 1; n <= most_nodes; ++n) {
    const bool is_telling = n <= 4 || n == 7 || n == 8;  // where a node's start is dear
    if (is_telling || test::cost_of_substrate < 10) run(n, check_all_collectives);
  }
}

TEST_P(CollectivesOfManyNodes, WorkTogether) {
  run(64, [](Node& node) {
    check_barriers(node, rounds(60));
    const auto row = am::allocate_symmetric<NodeId>(node, node.size());
    for (NodeId to = 0; to < node.size(); ++to) am::put(node, row.on(to) + node.id(), 100 * to + node.id());
    node.barrier();
    for (NodeId from = 0; from < node.size(); ++from)
      check_equal(row.local()[from], 100 * node.id() + from, "what each node put into each other's memory");
    am::all_reduce(node, Interval{node.id(), node.id()}, Interval::joined).check_all(node);
    check_equal(am::broadcast(node, node.id(), 63), 63u, "broadcast");
    const auto all = am::all_gather(node, node.id());
    for (NodeId id = 0; id < node.size(); ++id) check_equal(all[id], id, "gathered");
  });
}

TEST_P(Collectives, CarryLongRangesAndNone) {
  run(4, [](Node& node) {
    std::vector<std::uint64_t> range((1 << 17) + 1);  // a mebibyte and a word
    for (const NodeId root : {NodeId{0}, NodeId{3}}) {
      for (std::size_t i = 0; i < range.size(); ++i) range[i] = test::mix(node.id() + 1, i);
      am::broadcast(node, std::span(range), root);
      for (std::size_t i = 0; i < range.size(); ++i)
        check_equal(range[i], test::mix(root + 1, i), "broadcast");
    }
    using Block = std::array<std::uint64_t, 4096>;
    Block block;
    block.fill(node.id());
    const std::vector<Block> blocks = am::all_gather(node, block);
    for (NodeId who = 0; who < node.size(); ++who)
      for (const std::uint64_t word : blocks[who]) check_equal(word, who, "all_gather");
    std::span<int> nothing;
    am::broadcast(node, nothing, 2);
    am::all_reduce(node, nothing, std::plus<>());
  });
}

/// Long ones go in blocks of 256 KiB: no value is left out at their ends, however large it is, and the order stays.
TEST_P(Collectives, ReduceLongRangesWhole) {
  struct Large {
    std::array<std::uint64_t, 40'000> words;  // more than a block
  };
  for (const NodeId n : {1, 3, 4}) {
    run(n, [n](Node& node) {
      constexpr std::size_t of_a_block = (256 << 10) / sizeof(Interval);
      const Interval self{node.id(), node.id()};
      for (const std::size_t values : {of_a_block - 1, of_a_block, of_a_block + 1, 3 * of_a_block + 2}) {
        std::vector<Interval> range(values, self);
        am::all_reduce(node, std::span(range), Interval::joined);
        for (const Interval& all : range) all.check_all(node);
      }
      std::vector<Large> large(3);
      for (std::size_t i = 0; i < large.size(); ++i) large[i].words.fill(node.id() + i);
      am::all_reduce(node, std::span(large), [](const Large& a, const Large& b) {
        Large sum = a;
        for (std::size_t i = 0; i < sum.words.size(); ++i) sum.words[i] += b.words[i];
        return sum;
      });
      for (std::size_t i = 0; i < large.size(); ++i)
        for (const std::uint64_t word : large[i].words) check_equal(word, n * (n - 1) / 2 + n * i, "sum");
    });
  }
}

/// Numbers whose sum depends on the order of addition.
double difficult(NodeId node) {
  return std::ldexp(node % 3 == 1 ? -1.0 : 1.1, static_cast<int>(node * 37 % 101));
}

TEST_P(Collectives, SumFloatingPointAlikeOnEveryNodeForEveryRootAndEveryTime) {
  for (const NodeId n : {3, 7}) {
    run(n, [](Node& node) {
      test::Random random = own_random(node);
      const auto sum_of_all = [&] { return am::all_reduce(node, difficult(node.id()), std::plus<>()); };
      const auto bits = std::bit_cast<std::uint64_t>(sum_of_all());
      for (const std::uint64_t other : am::all_gather(node, bits)) check_equal(other, bits, "elsewhere");
      for (NodeId root = 0; root < node.size(); ++root) {
        stray(node, random);
        check_equal(std::bit_cast<std::uint64_t>(sum_of_all()), bits, "another time");
        stray(node, random);
        const auto sum = am::reduce(node, difficult(node.id()), std::plus<>(), root);
        if (sum) check_equal(std::bit_cast<std::uint64_t>(*sum), bits, "at another root");
      }
    });
  }
}

/// One after the other without a barrier, while the nodes stray from each other.
void check_random_sequence(Node& node, std::uint64_t total) {
  test::Random common(test::seed());
  test::Random own = own_random(node);
  const NodeId n = node.size();
  for (std::uint64_t i = 0; i < total; ++i) {
    const auto root = static_cast<NodeId>(common.below(n));
    const std::uint64_t value = test::mix(i, node.id());
    const auto value_of = [&](NodeId id) { return test::mix(i, id); };
    std::uint64_t sum = 0;
    for (NodeId id = 0; id < n; ++id) sum += value_of(id);
    switch (common.below(6)) {
      case 4: {
        std::uint64_t greatest = 0;
        for (NodeId id = 0; id <= node.id(); ++id) greatest = std::max(greatest, value_of(id));
        check_equal(am::scan(node, value, std::ranges::max), greatest, "scan");
        break;
      }
      case 0:
        check_equal(am::broadcast(node, value, root), value_of(root), "broadcast");
        break;
      case 1:
        if (const auto reduced = am::reduce(node, value, std::plus<>(), root))
          check_equal(*reduced, sum, "reduce");
        break;
      case 2:
        check_equal(am::all_reduce(node, value, std::plus<>()), sum, "all_reduce");
        break;
      case 3: {
        const auto all = am::all_gather(node, value);
        for (NodeId id = 0; id < n; ++id) check_equal(all[id], value_of(id), "all_gather");
        break;
      }
      default: {
        std::vector<std::uint64_t> range(common.below(400), value);
        am::broadcast(node, std::span(range), root);
        for (const std::uint64_t got : range) check_equal(got, value_of(root), "broadcast of a range");
      }
    }
    stray(node, own);
  }
}

TEST_P(Collectives, DoNotMixWhenTheyFollowEachOtherWithoutABarrier) {
  for (const NodeId n : {2, 5, 8}) run(n, [](Node& node) { check_random_sequence(node, rounds(1'500)); });
}

/// Every operation that a network may know, on values of either sign, and of either size; and others.
template <class T>
void check_reductions_of(Node& node) {
  const auto value_of = [](NodeId id) { return static_cast<T>(test::mix(71, id)); };
  const auto check_op = [&](auto op) {
    T up_to_here = value_of(0);
    T all = value_of(0);
    for (NodeId id = 1; id < node.size(); ++id) {
      all = static_cast<T>(op(all, value_of(id)));
      if (id == node.id()) up_to_here = all;
    }
    const T mine = value_of(node.id());
    check_equal(am::all_reduce(node, mine, op), all, "all_reduce");
    check_equal(am::scan(node, mine, op), up_to_here, "scan");
    const auto at_last = am::reduce(node, mine, op, node.size() - 1);
    check_equal(at_last.value_or(all), all, "reduce");
  };
  check_op(std::bit_and<>());
  check_op(std::bit_or<>());
  check_op(std::bit_xor<T>());
  check_op(std::ranges::max);
  check_op(std::ranges::min);
  check_op([](T a, T b) { return static_cast<T>(a ^ b ^ 1); });
  const auto small = static_cast<T>(node.id() + 1);
  const T before = static_cast<T>(node.id() * (node.id() + 1) / 2);
  check_equal(am::scan(node, small, std::plus<>()), static_cast<T>(before + small), "the sum up to here");
}

TEST_P(Collectives, CombineIntegersByEveryOperation) {
  for (const NodeId n : {1, 3, 6}) {
    run(n, [](Node& node) {
      check_reductions_of<std::int32_t>(node);
      check_reductions_of<std::uint32_t>(node);
      check_reductions_of<std::int64_t>(node);
      check_reductions_of<std::uint64_t>(node);
      check_equal(am::scan(node, std::string_view("abcdef")[node.id()], [](char, char b) { return b; }),
                  "abcdef"[node.id()], "in order");
    });
  }
}

// The CM-5's control network (CM-25).
TEST_P(Collectives, OfAWordSendNoMessagesWhereTheNetworkHasThem) {
  run(5, [](Node& node) {
    node.barrier();
    const auto sent = [&] {
      std::uint64_t all = 0;
      for (const am::PeerCounters& peer : am::counters(node).peers) all += peer.sent_messages;
      return all;
    };
    const std::uint64_t before = sent();
    for (unsigned i = 0; i < 100; ++i) {
      check_equal(am::broadcast(node, node.id() + i, i % 5), i % 5 + i, "broadcast");
      check_equal(am::reduce(node, 1, std::plus<>(), i % 5).value_or(5), 5, "reduce");
      check_equal(am::all_reduce(node, 1, std::plus<>()), 5, "all_reduce");
      check_equal(am::scan(node, 1U, std::plus<>()), node.id() + 1, "scan");
    }
    const bool has_none = node.engine().network().synchronizer() == nullptr;
    check_equal(sent() != before, has_none, "messages were sent");
    node.barrier();
  });
}

/// The root of a broadcast goes on, as does who has given its part of a reduction: here before the others begin.
TEST_P(Collectives, LetNodesGoOnWhosePartIsDone) {
  run(3, [](Node& node) {
    const auto flag = am::allocate_symmetric<std::uint64_t>(node);
    for (std::uint64_t i = 1; i <= 40; ++i) {
      const auto first = static_cast<NodeId>(1 + i % 2);
      if (node.id() != first) node.wait_until([&] { return std::atomic_ref(*flag.local()).load() == i; });
      check_equal(am::broadcast(node, i + node.id(), first), i + first, "broadcast");
      check_equal(am::reduce(node, i, std::plus<>()).value_or(3 * i), 3 * i, "reduce");
      if (node.id() == first) {
        for (NodeId to = 0; to < 3; ++to) am::put(node, flag.on(to), i);
      }
      check_equal(am::all_reduce(node, 1, std::plus<>()), 3, "all have come");
    }
  });
}

/// A root that never waits for an answer fills the mailbox of a slow node only so far.
TEST_P(Collectives, BoundWhatAFastNodeSendsAhead) {
  run(2, [](Node& node) {
    node.barrier();
    for (int i = 0; node.id() == 1 && i < 2000; ++i) {
      if (i % 100 == 0) std::this_thread::yield();
      node.poll();
      const am::CriticalSection quiet(node);
      check(node.engine().collectives().mailbox.kept() <= 16, "messages of rounds to come are few");
    }
    for (int i = 0; i < 200; ++i)
      check_equal(am::broadcast(node, i + static_cast<int>(1000 * node.id())), i, "broadcast");
    node.barrier();
  });
}

// Also where a node's message for one size is as long as another node's for another: long ones go in halves.
TEST_P(Collectives, SayWhenSizesDiffer) {
  run(2, [](Node& node) {
    for (const std::size_t size : {std::size_t{1024}, std::size_t{2048}, std::size_t{4096}}) {
      std::vector<double> values(node.id() == 0 ? size : 2 * size, 1);
      const std::string own = std::to_string(8 * values.size()) + " bytes; that of node";
      check_throws<am::Error>([&] { am::all_reduce(node, std::span(values), std::plus<>()); }, own.c_str());
      node.barrier();
      check_equal(am::all_reduce(node, 1, std::plus<>()), 2, "the next one");
    }
  });
}

/// Also who has the root's word before the others have come.
TEST_P(Collectives, SayWhenTheRootsValueIsOfAnotherSize) {
  run(3, [](Node& node) {
    const auto flag = am::allocate_symmetric<std::uint64_t>(node);
    if (node.id() == 0) static_cast<void>(am::broadcast(node, std::uint64_t{1}));
    if (node.id() == 1) {
      check_throws<am::Error>([&] { static_cast<void>(am::broadcast(node, 1)); },
                              "with root 0 and 4 bytes; that of node 0 is broadcast with root 0 and 8 bytes");
      am::put(node, flag.on(2), std::uint64_t{1});
    } else if (node.id() == 2) {
      node.wait_until([&] { return std::atomic_ref(*flag.local()).load() != 0; });
      check_equal(am::broadcast(node, std::uint64_t{0}), std::uint64_t{1}, "the others'");
    }
    node.barrier();
  });
}

/// Of two nodes each makes a call of its own, and hears of the other's; then both go on.
template <class First, class Second>
void check_that_both_hear(Node& node, First first, const char* of_second, Second second,
                          const char* of_first) {
  if (node.id() == 0)
    check_throws<am::Error>(first, of_second);
  else
    check_throws<am::Error>(second, of_first);
  node.barrier();
  check_equal(am::all_reduce(node, 1, std::plus<>()), 2, "the next one");
}

/// Of which the network may do the one by itself, and not the other.
TEST_P(Collectives, SayWhenTypesOrOpsDiffer) {
  run(2, [](Node& node) {
    const auto reduces = [&](auto value, auto op) {
      return [&node, value, op] { static_cast<void>(am::all_reduce(node, value, op)); };
    };
    for (int i = 0; i < 3; ++i)
      check_that_both_hear(node, reduces(1, std::plus<>()),
                           "with 4 bytes, for a sum; that of node 1 is all_reduce with 8 bytes",
                           reduces(1.0, std::plus<>()),
                           "with 8 bytes; that of node 0 is all_reduce with 4 bytes, for a sum");
    check_that_both_hear(
        node, reduces(1, std::plus<>()),
        "with 4 bytes, for a sum; that of node 1 is all_reduce with 4 bytes, for a maximum of signed numbers",
        reduces(1, std::ranges::max),
        "with 4 bytes, for a maximum of signed numbers; that of node 0 is all_reduce with 4 bytes, for a "
        "sum");
  });
}

/// Not again in the next operation, also where a node sleeps in that.
TEST_P(Collectives, SayOnceWhatDiffers) {
  run(2, [](Node& node) {
    for (int i = 0; i < 5; ++i) {
      if (node.id() == 0) {
        check_throws<am::Error>([&] { static_cast<void>(am::all_reduce(node, 1, std::plus<>())); }, "bytes");
        const auto& asleep = node.engine().board().card(1).alarm;
        while (node.engine().board().is_here(1) &&
               asleep.load() != static_cast<std::uint32_t>(am::host::Alarm::sleeper))
          std::this_thread::yield();
      } else {
        check_throws<am::Error>([&] { static_cast<void>(am::all_reduce(node, 1.0, std::plus<>())); },
                                "bytes");
      }
      node.barrier();
    }
  });
}

TEST_P(Collectives, SayWhenTheNodesDoNotCallTheSame) {
  run(2, [](Node& node) {
    if (node.id() == 0) {
      static_cast<void>(am::broadcast(node, std::uint64_t{1}));
    } else {
      check_throws<am::Error>([&] { static_cast<void>(am::broadcast(node, std::uint32_t{1})); },
                              "broadcast at node 1: this is its round 1 of collectives, with root 0 and 4 "
                              "bytes; that of node 0 is "
                              "broadcast with root 0 and 8 bytes");
    }
    node.barrier();
    if (node.id() == 0) {
      static_cast<void>(am::broadcast(node, 1));
    } else {
      check_throws<am::Error>([&] { static_cast<void>(am::all_reduce(node, 1, std::plus<>())); },
                              "round 2 of collectives");
    }
    check_throws<am::Error>([&] { static_cast<void>(am::broadcast(node, 1, 2)); }, "there is no node 2");
    node.barrier();
  });
}

/// Who gives to a round of messages, and waits for nobody there, has gone on when another one is in a barrier. Where barriers are the
/// network's own, they are counted as rounds are, so this one waits for ever: it says so, at once.
TEST_P(Collectives, SayWhenANodeHasGoneOnWhereAnotherWaits) {
  run(2, [](Node& node) {
    node.barrier();
    std::array<std::uint64_t, 64> values{node.id()};
    if (node.engine().network().synchronizer() == nullptr) return;
    if (node.id() == 0) {
      am::broadcast(node, std::span(values));
      check_throws<am::Error>(
          [&] { node.barrier(); },
          "barrier at node 0: its round 1 of collectives was broadcast with root 0 and 512 "
          "bytes; that of node 1 is a barrier");
    } else {
      check_throws<am::Error>([&] { node.barrier(); }, "has left the job");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Collectives, test::cells_of<Collectives>(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Contract, CollectivesOfManyNodes, test::cells_of<CollectivesOfManyNodes>(),
                         test::name_of);

}  // namespace collectives_test
