// Split-C (am/splitc.hpp): the forms beside those of splitc_test.cpp. References that calculate, counters of one's own, siblings of
// the reductions and scans, what an operation of one's own promises; sizes that are none, and nodes that do not call the same.
#include <am/splitc.hpp>

#include <numeric>

#include "support/splitc.hpp"

namespace splitc_operators_test {

using namespace am::splitc;  // NOLINT(google-build-using-namespace): as a program has it
using am::Node;
using am::NodeId;
using am::splitc::sync;
using namespace test;
using SplitCForms = test::OnSplitC<test::OnANode>;

struct Item {
  std::int32_t weight;
  double price;
  std::array<std::int16_t, 3> codes;
};

/// The nodes [first, last], as a value that can only be put together in order.
struct Interval {
  int first = 0;
  int last = 0;
  bool whole = true;
  friend bool operator==(const Interval&, const Interval&) = default;
};
Interval joined(Interval a, Interval b) {
  return {a.first, b.last, a.whole && b.whole && a.last + 1 == b.first};
}

TEST_P(SplitCForms, ReferencesCalculate) {
  run_splitc(2, [](Node&) {
    const auto words = spread_array<std::int64_t>(procs(), 4);
    const auto reals = spread_array<double>(procs(), 4);
    const auto small = spread_array<std::int16_t>(procs(), 4);
    // Of this node's own and of the neighbour's memory: each has a place in both.
    for (const int p : {my_proc(), right()}) {
      const auto calculate = [&](auto place, auto first, auto by, const std::string& what) {
        using Value = decltype(first);
        const auto becomes = [&](Value expected, const std::string& sign) {
          const Value now = *place;
          check_equal(now, expected, sign + " of " + what);
        };
        *place = first;
        *place -= by;
        becomes(static_cast<Value>(first - by), "-=");
        *place *= by;
        becomes(static_cast<Value>((first - by) * by), "*=");
        *place /= by;
        becomes(static_cast<Value>(first - by), "/=");
        *place += by;
        becomes(first, "+=");
        (*place -= by) *= by;  // each is the reference again
        becomes(static_cast<Value>((first - by) * by), "-= and *=");
      };
      calculate(words[p] + my_proc(), std::int64_t{-1'000'000'007}, std::int64_t{-13}, "a word");
      calculate(reals[p] + my_proc(), 10.5, 0.25, "a double");
      calculate(small[p] + my_proc(), std::int16_t{300}, std::int16_t{7}, "two bytes");
    }
  });
}

TEST_P(SplitCForms, SpreadPointersReachMembersAndBecomePlainOnes) {
  run_splitc(3, [](Node&) {
    const spread_ptr<Item> items = all_spread_malloc<Item>(2 * procs());
    const spread_ptr<Item> mine = items + my_proc() + procs();  // this node's second
    const spread_ptr<Item> other = items + right() + procs();
    (other->*&Item::weight) = static_cast<std::int32_t>(my_proc()) + 40;
    (other->*&Item::price) = 0.5;
    (other->*&Item::price) *= 3.0;
    (other->*&Item::codes) = std::array<std::int16_t, 3>{1, -2, 3};
    barrier();
    Item* const own = to_local(mine);
    check(own == to_local(items + my_proc()) + 1,
          "the next one here is as many elements on as there are nodes");
    check(own == mine.local() && own == to_local(mine.global()), "as by its other names");
    check_equal(own->weight, static_cast<std::int32_t>(left()) + 40, "a number");
    check_equal(own->price, 1.5, "a number that was multiplied there");
    check(own->codes == std::array<std::int16_t, 3>{1, -2, 3}, "an array");
    check_throws<am::Error>([&] { static_cast<void>(to_local(other)); }, "points to another node's memory");
    own->weight = -1;  // written by a plain pointer, read by a spread one to const
    barrier();
    const spread_ptr<const Item> constant = other;
    const std::int32_t weight = constant->*&Item::weight;
    check_equal(weight, -1, "through a pointer to const");
  });
}

TEST_P(SplitCForms, PutsHaveACounterOfTheirOwn) {
  run_splitc(2, [](Node&) {
    constexpr std::size_t count = 100;
    const spread_array<std::uint32_t> a(procs(), 2 * count);
    Counter first;
    Counter second;
    check(is_synced(first), "nothing is under way");
    sync(first);
    for (std::uint32_t i = 0; i < count; ++i) {
      put(a[right()] + i, i + 1, first);
      put(a[right()] + (count + i), 2 * i, second);
    }
    check_equal(first.begun(), count, "it counts its own");
    check(is_synced(), "sync() has none of them");
    sync();
    while (!is_synced(second)) std::this_thread::yield();
    sync(second);  // at once
    std::vector<std::uint32_t> back(count);
    for (std::size_t i = 0; i < count; ++i) get(&back[i], a[right()] + (count + i), second);
    while (!is_synced(second)) std::this_thread::yield();
    for (std::size_t i = 0; i < count; ++i) check_equal(back[i], 2 * i, "what is synced is written");
    sync(first);
    check(is_synced(first), "after sync");
    barrier();
    for (std::size_t i = 0; i < count; ++i) check_equal(a.mine()[i], i + 1, "what the other counter counted");
  });
}

TEST_P(SplitCForms, BitsAreReducedAndScanned) {
  run_splitc(3, [](Node&) {
    const std::array<std::uint64_t, 3> values{~std::uint64_t{0} - 1, 0xF0F0'0000'0000'0FF0,
                                              0x30F0'0000'0000'00F3};
    const std::uint64_t mine = values[my_proc()];
    const auto so_far = [&](auto op) {
      return std::accumulate(values.begin() + 1, values.begin() + my_proc() + 1, values[0], op);
    };
    const auto of_all = [&](auto op) {
      return std::accumulate(values.begin() + 1, values.end(), values[0], op);
    };
    check_equal(all_reduce_to_all_and(mine), of_all(std::bit_and()), "all_reduce_to_all_and");
    check_equal(all_reduce_to_all_or(mine), of_all(std::bit_or()), "all_reduce_to_all_or");
    check_equal(all_reduce_to_all_xor(mine), of_all(std::bit_xor()), "all_reduce_to_all_xor");
    const std::array one{all_reduce_to_one_and(mine), all_reduce_to_one_or(mine),
                         all_reduce_to_one_xor(mine)};
    on_one([&] {
      check(one == std::array{of_all(std::bit_and()), of_all(std::bit_or()), of_all(std::bit_xor())},
            "all_reduce_to_one");
    });
    check_equal(all_scan_and(mine), so_far(std::bit_and()), "all_scan_and");
    check_equal(all_scan_or(mine), so_far(std::bit_or()), "all_scan_or");
    check_equal(all_scan_xor(mine), so_far(std::bit_xor()), "all_scan_xor");
    const bool first = my_proc() == 0;  // narrower than an int
    check_equal(all_reduce_to_all_or(first), true, "of truth values");
    check_equal(all_scan_and(first), first, "of truth values");
  });
}

// One node, a power of two, and numbers between: however the network's tree groups them.
TEST_P(SplitCForms, OperationsOfOnesOwnKeepTheNodesOrder) {
  for (const NodeId nodes : {1U, 2U, 3U, 5U}) {
    run_splitc(nodes, [](Node&) {
      const Interval mine{my_proc(), my_proc()};
      const int last = procs() - 1;
      check(all_reduce_to_all(mine, joined) == Interval{0, last}, "all_reduce_to_all");
      check(all_scan(mine, joined) == Interval{0, my_proc()}, "all_scan");
      const Interval there = all_reduce_to_one(mine, joined, last);
      on_proc(last, [&] { check(there == Interval{0, last}, "all_reduce_to_one, to the last"); });
      const int shift = 10;  // a lambda with captures: it runs here alone
      const auto digits = [shift](int a, int b) { return a * shift + b; };
      const int number = all_scan(my_proc() + 1, digits);
      check_equal(number, 12345 / std::array{10000, 1000, 100, 10, 1}[my_proc()], "the digits so far");
    });
  }
}

TEST_P(SplitCForms, RefusesSizesThatOverflow) {
  run_splitc(2, [](Node&) {
    const spread_array<std::uint64_t> a(procs(), 2);
    std::array<std::uint64_t, 2> two{5, 6};
    Counter counter;
    for (const int p : {my_proc(), right()}) {
      for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2 + 1}) {
        const auto refuses = [&](auto use) { check_throws<am::Error>(use, "more bytes than there are"); };
        refuses([&] { bulk_read(two.data(), a[p], bytes); });
        refuses([&] { bulk_write(a[p], two.data(), bytes); });
        refuses([&] { bulk_get(two.data(), a[p], bytes); });
        refuses([&] { bulk_get(two.data(), a[p], bytes, counter); });
        refuses([&] { bulk_put(a[p], two.data(), bytes); });
        refuses([&] { bulk_put(a[p], two.data(), bytes, counter); });
        refuses([&] { bulk_store(a[p], two.data(), bytes); });
        // As many values: the product is no number.
        const std::span<std::uint64_t> values(two.data(), bytes);
        refuses([&] { bulk_read(values, a[p]); });
        refuses([&] { bulk_write(a[p], values); });
        refuses([&] { bulk_get(values, a[p]); });
        refuses([&] { bulk_put(a[p], values); });
        refuses([&] { bulk_store(a[p], values); });
      }
    }
    check_equal(counter.begun(), 0U, "none of them was begun");
    check(is_synced(), "nor is waited for");
    all_store_sync();  // nor counted
    check(two == std::array<std::uint64_t, 2>{5, 6} && a.mine()[0] == 0, "nothing was moved");
  });
}

#ifdef AM_CHECKED
/// Node `other` makes the second call, the rest the first; all hear so.
template <class Most, class One>
void differ(int other, Most most, One one, const std::string& says) {
  check_throws<am::Error>([&] { my_proc() == other ? one() : most(); }, says);
}

TEST_P(SplitCForms, NamesANodeThatMakesAnotherCall) {
  run_splitc(4, [](Node&) {
    const auto differs = [](auto most, auto one, const std::string& first, const std::string& second) {
      differ(1, most, one, "node 0 calls " + first + ", node 1 calls " + second);
    };
    for (int other = 1; other < procs(); ++other) {
      differ(
          other, [] { barrier(); }, [] { all_store_sync(); },
          "node 0 calls barrier of 0, node " + std::to_string(other) + " calls all_store_sync of 0");
    }
    differ(
        0, [] { static_cast<void>(all_bcast(1)); }, [] { static_cast<void>(all_scan_add(1)); },
        "node 0 calls all_scan of 0, node 1 calls all_bcast of 4");
    differs([] { static_cast<void>(all_gather(1)); }, [] { static_cast<void>(all_gather(1.0)); },
            "all_gather of 4", "all_gather of 8");
    differs([] { static_cast<void>(all_reduce_to_all_add(1)); },
            [] { static_cast<void>(all_reduce_to_all_max(1)); }, "add of 4", "max of 4");
    differs([] { static_cast<void>(all_scan(1, std::plus<>())); },
            [] { static_cast<void>(all_scan(std::int64_t{1}, std::plus<>())); }, "with an operation of 4",
            "with an operation of 8");
    std::array<char, 3> text{};
    differs([&] { all_bcast(std::span(text)); }, [&] { all_bcast(std::span(text).first(2)); },
            "all_bcast of 3", "all_bcast of 2");
    differs([] { static_cast<void>(all_bcast(1)); }, [] { static_cast<void>(all_bcast(1, 1)); },
            "all_bcast of 4", "all_bcast of 4 with root 1");
    differs([] { static_cast<void>(all_reduce_to_one(1, std::plus<>(), 1)); },
            [] { static_cast<void>(all_reduce_to_one(1, std::plus<>())); },
            "all_reduce_to_one of 0 with root 1", "all_reduce_to_one of 0");
    // Also as many bytes, dealt out otherwise.
    differs([] { static_cast<void>(all_spread_malloc<int>(4, 1)); },
            [] { static_cast<void>(all_spread_malloc<int>(1, 4)); }, "all_spread_malloc of 4",
            "all_spread_malloc of 1");
    differs([] { static_cast<void>(all_spread_malloc<int>(4, 2)); },
            [] { static_cast<void>(all_spread_malloc<int>(4, 1)); }, "all_spread_malloc with blocks of 8",
            "all_spread_malloc with blocks of 4");
    const spread_array<int> a(procs(), 16);
    const spread_array<int> b(procs(), 16);
    const auto free_of = [](const spread_array<int>& array) {
      return "all_spread_free of " + std::to_string(array.data().place().offset());
    };
    differs([&] { all_spread_free(a); }, [&] { all_spread_free(b); }, free_of(a), free_of(b));
    differs([&] { all_spread_free(a); }, [] { all_spread_free(spread_ptr<int>()); }, free_of(a),
            "all_spread_free(null) of 0");
    all_spread_free(a);  // neither was given back
    all_spread_free(b);
    const spread_array<int> three(3);
    check_throws<am::Error>([&] { static_cast<void>(three[3]); }, "3 is not below 3");
    const block_array<int> four(4);
    check_throws<am::Error>([&] { static_cast<void>(four[4]); }, "4 is not below 4");
    check_equal(all_reduce_to_all_add(1), 4, "and the job goes on");
  });
}

// The node whose World ends early hears of it afterwards: a destructor throws nothing.
TEST_P(SplitCForms, NamesANodeWhoseWorldEndsEarly) {
  run(3, [](Node& node) {
    check_throws<am::Error>(
        [&] {
          {
            World world(node);
            if (my_proc() != 1)
              barrier();  // its World ends by what this throws: without waiting for the others
          }
          for (;;) test::poll_or_yield(node);
        },
        "node 0 calls barrier of 0, node 1 calls ~World() of 0");
    node.barrier();
  });
}
#endif

INSTANTIATE_TEST_SUITE_P(Model, SplitCForms, test::cells_of<SplitCForms>(), test::name_of);

}  // namespace splitc_operators_test
