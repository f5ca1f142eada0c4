// Split-C (am/splitc.hpp), on every substrate: by loads and stores where it has them, by messages where a decorated network or
// another host stands between. The rows of the language's tables, in their order (docs/porting.md).
#include <am/splitc.hpp>

#include <am/counters.hpp>
#include <numeric>

#include "support/catching.hpp"
#include "support/splitc.hpp"

namespace splitc_test {

using namespace am::splitc;  // NOLINT(google-build-using-namespace): as a program has it
using am::Node;
using am::NodeId;
using am::splitc::sync;
using namespace test;
using SplitC = test::OnSplitC<test::OnEverySubstrate>;

struct Pair {
  std::int32_t a, b;
  friend bool operator==(const Pair&, const Pair&) = default;
};
struct Body {
  double x[3];
  std::int16_t kind;
  global_ptr<double> next;
};

TEST_P(SplitC, PlainExpressionsReadAndWrite) {
  run_splitc(2, [](Node&) {
    const auto room = spread_array<std::byte>(procs(), 256);
    const auto both_ways = [&](auto value, std::ptrdiff_t offset) {
      using Value = decltype(value);
      for (const int p : {my_proc(), right()}) {
        const global_ptr<Value> place = (room[p] + 64 * my_proc() + offset).template as<Value>();
        *place = value;
        const Value back = *place;
        check(std::memcmp(&back, &value, sizeof value) == 0, "what was written is read");
        place[0] = place[0];
        check(place[0].value() == value, "from a reference to a reference");
      }
    };
    for (const std::ptrdiff_t offset : {0, 3, 8}) {  // aligned and not
      both_ways(std::uint8_t{200}, offset);
      both_ways(std::int16_t{-2}, offset);
      both_ways(1.5F, offset);
      both_ways(-2.25, offset);
      both_ways(Pair{-3, 7}, offset);
      both_ways(std::array<char, 3>{'a', 'b', 'c'}, offset);
      both_ways(std::array<std::uint64_t, 4>{1, 2, 3, 4}, offset);
    }
    barrier();
    // Members, and what assigns: the right neighbour's, one writer each.
    const auto bodies = spread_array<Body>(procs());
    const global_ptr<Body> other = bodies[right()];
    other->*& Body::kind = std::int16_t{5};
    other->*& Body::next = (room[0] + 8).as<double>();
    (other->*&Body::kind) += 2;
    (other->*&Body::x)[2] = 0.5;
    const Body whole = *other;
    check_equal(whole.kind, 7, "a member was written, and added to");
    check(whole.next == (room[0] + 8).as<double>() && whole.x[2] == 0.5, "a pointer lies in global memory");
    const global_ptr<const Body> constant = other;
    const std::int16_t kind = constant->*&Body::kind;
    check_equal(kind, 7, "through a pointer to const");
    barrier();
    check_equal(bodies.mine()->kind, 7, "it is there");
    check(to_local(bodies[my_proc()]) == bodies.mine(), "to_local");
    check(to_global(bodies.mine()) == bodies[my_proc()], "to_global");
    check(to_global(right(), bodies.mine()) == other, "to_global of another node");
    int* own = local_malloc<int>(3);
    own[2] = 6;
    check_equal(to_global(own)[2].value(), 6, "local_malloc's memory is global");
    local_free(own);
    int* const none = local_malloc<int>(0);
    int* const none_either = local_malloc<int>(0);
    check(none != nullptr && none != none_either && to_global(none).proc() == my_proc(), "room for nothing");
    local_free(none);
    local_free(none_either);
  });
}

TEST_P(SplitC, SpreadArraysLieAsInTheLanguage) {
  run_splitc(3, [](Node&) {
    constexpr std::size_t count = 8;
    constexpr std::size_t block = 5;
    const spread_array<std::uint32_t> a(count, block);
    check_equal(a.my_blocks(), my_proc() < 2 ? 3u : 2u, "blocks of this node");
    for (std::size_t slot = 0; slot < a.my_blocks(); ++slot) {
      for (std::size_t i = 0; i < block; ++i)
        a.mine()[slot * block + i] = static_cast<std::uint32_t>((slot * procs() + my_proc()) * 100 + i);
    }
    barrier();
    for (std::size_t k = 0; k < count; ++k) {
      check_equal(static_cast<std::size_t>(a[k].proc()), k % procs(),
                  "block k lives on processor k mod PROCS");
      for (std::size_t i = 0; i < block; ++i)
        check_equal(a[k][static_cast<std::ptrdiff_t>(i)].value(), k * 100 + i, "block k / PROCS there");
    }
    const spread_array_2d<int> x(2, 3, 4);  // int x[2][3]::[4]
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        check_equal(static_cast<std::size_t>(x.owner(i, j)), (i * 3 + j) % procs(), "row-major");
        if (x.owner(i, j) == my_proc()) x(i, j)[3] = static_cast<int>(10 * i + j);
      }
    }
    barrier();
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 3; ++j)
        check_equal(x(i, j)[3].value(), static_cast<int>(10 * i + j), "of its own block");
    }
    // One element each: `T N[PROCS]::`, by a spread pointer and by the loops over what a node owns.
    const spread_ptr<std::uint64_t> n = all_spread_malloc<std::uint64_t>(11);
    for (const std::size_t k : my_elements(11)) *(n + static_cast<std::ptrdiff_t>(k)).local() = k + 1;
    barrier();
    std::uint64_t sum = 0;
    for (spread_ptr<std::uint64_t> p = n; p != n + 11; ++p) sum += *p;
    check_equal(sum, 66u, "all elements, once each");
    barrier();
    all_spread_free(n);
    all_spread_free(a);
    all_spread_free(x);
    const spread_array<std::uint32_t> again(count, block);
    check(again.data() == a.data() && again.mine()[0] == 0,
          "memory that was given back is given out, cleared");
  });
}

TEST_P(SplitC, BlockArraysLieInOrder) {
  run_splitc(3, [](Node&) {
    for (const std::size_t n : {0u, 1u, 2u, 3u, 4u, 7u, 30u, 31u, 32u}) {
      const block_array<std::uint32_t> a(n);
      check_equal(a.size(), n, "so many");
      const std::span<std::uint32_t> mine = a.mine();
      check_equal(mine.size(), a.end(my_proc()) - a.first(), "those that live here");
      for (const std::size_t k : my_elements(a)) {
        check_equal(a.owner(k), my_proc(), "who owns it");
        mine[k - a.first()] = static_cast<std::uint32_t>(k + 1);
      }
      barrier();
      std::size_t owned = 0;
      for (int p = 0; p < procs(); ++p) {
        check_equal(a.first(p), owned, "one node's values behind the other's");
        owned = a.end(p);
      }
      check_equal(owned, n, "all belong to somebody");
      for (std::size_t k = 0; k < n; ++k) {
        check(a[k] == k + 1, "an element, wherever it is");
        check_equal((&a[k]).proc(), a.owner(k), "where its owner is");
      }
      barrier();
      for (std::size_t k = my_proc(); k < n; k += procs()) put(&a[k], static_cast<std::uint32_t>(2 * k));
      sync();
      barrier();
      for (std::size_t k = a.first(); k < a.end(my_proc()); ++k)
        check_equal(mine[k - a.first()], 2 * k, "what others put");
      all_spread_free(a);
    }
  });
}

// Where handlers run beside the program, or interrupt it, what was gathered goes by itself after a while: a message more for each
// such while that the phase took, on however busy a machine.
TEST_P(SplitC, ThousandPutsOrGetsMakeFewMessages) {
  run_splitc(2, [](Node& node) {
    constexpr std::uint64_t count = 1000;
    const spread_array<std::uint64_t> a(procs(), count);
    const bool direct = am::direct(node, a[right()].place()) != nullptr;
    const auto sent = [&] {
      const am::Counters all = am::counters(node);
      return all.peer(right(), am::Priority::low).sent_messages;
    };
    const auto phase = [&](const std::string& what, std::uint64_t in_a_message, auto access) {
      const std::uint64_t before = sent();
      const am::Count began = node.count();
      for (std::uint64_t i = 0; i < count; ++i) access(static_cast<std::ptrdiff_t>(i), i);
      sync();
      check(is_synced(), "all is complete");
      const std::uint64_t messages = sent() - before;
      const std::uint64_t whiles = node.dispatch() == am::Dispatch::poll
                                       ? 0
                                       : (node.count() - began) / am::core::Gathering::longest_ns;
      check(messages <= (count + in_a_message - 1) / in_a_message + whiles,
            std::to_string(messages) + " messages carry 1000 " + what + ", which took " +
                std::to_string(whiles) + " times as long as they are gathered");
      if (direct) check_equal(messages, 0u, "loads and stores carry them");
    };
    phase("puts", 64, [&](std::ptrdiff_t at, std::uint64_t i) { put(&a[right()][at], i); });
    barrier();
    for (std::size_t i = 0; i < count; ++i) check_equal(a.mine()[i], i, "all of them");
    std::vector<std::uint64_t> back(count);
    phase("gets", 128, [&](std::ptrdiff_t at, std::uint64_t i) { get(&back[i], &a[right()][at]); });
    for (std::size_t i = 0; i < count; ++i) check_equal(back[i], i, "all of them");
  });
}

TEST_P(SplitC, StoresAreCountedWhereTheyArrive) {
  run_splitc(3, [](Node&) {
    constexpr std::size_t most = 70'000;
    const spread_array<std::byte> a(procs(), most);
    const spread_array<std::uint64_t> words(procs(), 64);
    std::vector<std::byte> data(most);
    for (const std::size_t bytes : {1u, 7u, 8u, 1023u, 1024u, 1025u, 65'536u, 69'999u}) {
      std::fill(data.begin(), data.end(), static_cast<std::byte>(bytes + my_proc()));
      bulk_store(a[right()], data.data(), bytes);
      std::fill(data.begin(), data.end(), std::byte{0});  // the source may be used again
      store_sync(bytes);
      const auto written = static_cast<std::byte>(bytes + left());
      check(std::all_of(a.mine(), a.mine() + bytes, [&](std::byte b) { return b == written; }),
            std::to_string(bytes) + " bytes are there when they are counted");
      barrier();
    }
    // One at a time, of every size; the bytes are counted, not the stores.
    store(words[right()].as<std::uint8_t>(), 9);
    store(words[right()].as<std::int16_t>() + 1, -9);
    store(words[right()].as<float>() + 1, 0.5F);
    store(words[right()] + 1, 77u);
    store(words[right()].as<Pair>() + 2, Pair{1, 2});
    store(words[right()].as<std::array<std::uint64_t, 4>>() + 1, std::array<std::uint64_t, 4>{1, 2, 3, 4});
    store(words[my_proc()] + 9, 5u);
    store_sync(1 + 2 + 4 + 8 + 8 + 32 + 8);
    check_equal(words.mine()[1], 77u, "a word");
    check_equal(words.mine()[7], 4u, "four words");
    check_equal(words.mine()[9], 5u, "to oneself");
    const float half = *(words[my_proc()].as<float>() + 1);
    check_equal(half, 0.5F, "four bytes");
    const Pair pair = *(words[my_proc()].as<Pair>() + 2);
    check(pair == Pair{1, 2}, "a struct");
    store_sync(0);
    reset_store_sync();
    all_store_sync();
    store(words[right()] + 3, 1u);
    store(words[right()] + 4, 2u);
    store_sync(8);
    store_sync(8);  // what one call waited for the next does not
    check_equal(words.mine()[3] + words.mine()[4], 3u, "both");
  });
}

TEST_P(SplitC, AllStoreSyncWaitsForEverybodysStores) {
  run_splitc(3, [](Node&) {
    test::Random random(test::mix(test::seed(), my_proc()));
    constexpr std::size_t each = 40;
    const spread_array<std::uint64_t> a(procs(), each * 3);
    for (std::uint64_t round = 1; round <= rounds(20); ++round) {
      for (std::size_t n = 0; n < each * procs(); ++n) {  // all to all, in an order of each one's own
        const int to = static_cast<int>(n + my_proc()) % procs();
        store(a[to] + static_cast<std::ptrdiff_t>(my_proc() * each + n / procs()), round);
        if (random.one_in(50)) am::splitc::poll();
      }
      all_store_sync();
      // No barrier: who is through goes on, and stores for the next round must not be counted for this one.
      check(std::all_of(a.mine(), a.mine() + each * procs(),
                        [&](const std::uint64_t& value) {
                          return *to_global(const_cast<std::uint64_t*>(&value)) >= round;
                        }),
            "every store of the round has arrived");
      std::vector<std::uint64_t> theirs(each * procs());
      bulk_read(theirs.data(), a[right()], each * procs() * sizeof(std::uint64_t));
      check(std::ranges::all_of(theirs, [&](std::uint64_t value) { return value >= round; }),
            "and everywhere");
      barrier();
      if (random.one_in(2)) reset_store_sync();
    }
  });
}

struct Refused {};

/// A function that throws at its owner, which is in all_store_sync: that is complete, for all, before it throws.
TEST_P(SplitC, AllStoreSyncIsCompleteWhenAHandlerThrows) {
  run_splitc(3, [](Node& node) {
    const spread_array<std::int64_t> a(procs(), 4);
    std::uint64_t thrown = 0;
    const auto meanwhile = [&](const auto& step) { thrown += test::catches<Refused>(node, step) ? 1 : 0; };
    meanwhile([] { barrier(); });
    for (std::int64_t round = 1; round <= static_cast<std::int64_t>(rounds(20)); ++round) {
      if (my_proc() != 0) store(a[right()] + 0, round);  // where nothing is thrown
      if (my_proc() == 1) {
        const auto refuse = [](std::int64_t& value) {
          if (value >= 0) throw Refused();
        };
        check_throws<am::Error>([&] { atomic(refuse, a[0] + 1); }, "the function threw at its owner, node 0");
      }
      meanwhile([] { all_store_sync(); });
      check(my_proc() == 1 || a.mine()[0] >= round, "the store has come");
      meanwhile([] { barrier(); });
    }
    check_equal(thrown > 0, my_proc() == 0, "at the owner alone");
  });
}

TEST_P(SplitC, BulkTransfersMoveBytesOfAnyNumber) {
  run_splitc(2, [](Node&) {
    constexpr std::size_t most = 100'000;
    const spread_array<std::uint16_t> a(procs(), most / 2);
    std::vector<std::uint16_t> out(most / 2);
    std::vector<std::uint16_t> in(most / 2);
    bulk_write(a[right()], out.data(), 0);
    bulk_read(in.data(), global_ptr<std::uint16_t>(), 0);
    std::uint16_t mark = my_proc() == 0 ? 1 : 501;
    for (const std::size_t bytes : {2u, 8u, 1026u, 100'000u}) {
      std::iota(out.begin(), out.end(), ++mark);
      bulk_write(a[right()], out.data(), bytes);
      bulk_read(in.data(), a[right()], bytes);
      check(std::memcmp(in.data(), out.data(), bytes) == 0, "bulk_write and bulk_read");
      std::iota(out.begin(), out.end(), ++mark);
      bulk_put(a[right()], out.data(), bytes);
      sync();
      bulk_get(in.data(), a[right()], bytes);
      sync();
      check(std::memcmp(in.data(), out.data(), bytes) == 0, "bulk_put and bulk_get");
    }
    // The same of ranges, and with a counter of their own.
    std::iota(out.begin(), out.end(), ++mark);
    bulk_write(a[right()], out);
    bulk_read(in, a[right()]);
    check(in == out, "bulk_write and bulk_read of vectors");
    Counter counter;
    bulk_put(a[right()], out.data(), most, counter);
    sync(counter);
    bulk_get(in.data(), a[right()], most, counter);
    sync(counter);
    check(in == out, "with a counter");
    const std::span<std::uint16_t> some = std::span(out).subspan(7, 1000);
    std::array<std::uint16_t, 1000> back{};
    const auto put_and_get = [&](std::ptrdiff_t at, auto&... count) {
      std::ranges::reverse(some);
      bulk_put(a[right()] + at, some, count...);
      sync(count...);
      bulk_get(back, a[right()] + at, count...);
      sync(count...);
      check(std::ranges::equal(back, some), "bulk_put of a part, bulk_get into an array");
    };
    put_and_get(7);
    bulk_put(a[right()] + 7, some.first(0), counter);
    put_and_get(0, counter);
    std::ranges::reverse(some);
    barrier();
    bulk_store(a[right()] + 3, some);
    store_sync(2000);
    check(std::ranges::is_sorted(std::span(a.mine() + 3, 1000), std::greater<>()), "bulk_store");
    barrier();
    // Overlapping ranges: on one's own node, where a plain pointer may lead into the same memory.
    std::uint16_t* const mine = a.mine();
    const auto overlap = [&](auto transfer) {
      check_throws<am::Error>(transfer, "source and target overlap in 96 of 100 bytes");
    };
    overlap([&] { bulk_put(a[my_proc()] + 2, mine, 100); });
    overlap([&] { bulk_write(a[my_proc()], mine + 2, 100); });
    overlap([&] { bulk_get(mine, a[my_proc()] + 2, 100); });
    overlap([&] { bulk_read(mine + 2, a[my_proc()], 100); });
    overlap([&] { bulk_store(a[my_proc()] + 2, mine, 100); });
    bulk_write(a[my_proc()] + 50, mine, 100);  // side by side
    sync();
  });
}

std::int64_t add_here(std::int64_t& value, std::int64_t by) { return std::exchange(value, value + by); }
void count_down(std::int64_t& value) { --value; }

TEST_P(SplitC, AtomicRunsAtTheOwner) {
  run_splitc(3, [](Node&) {
    const spread_ptr<std::int64_t> counters = all_spread_malloc<std::int64_t>(procs());
    const auto each = static_cast<std::int64_t>(rounds(200));
    std::vector<std::int64_t> seen;
    for (std::int64_t i = 0; i < each; ++i) {
      seen.push_back(atomic<add_here>(counters, 2));
      atomic([](std::int64_t& value) { ++value; }, counters + right());
      atomic<count_down>(counters + right());
      atomic([](std::int64_t& value, int a, double b) { value += a + static_cast<int>(b); },
             counters + my_proc(), 1, -1.5);
    }
    check(std::ranges::is_sorted(seen) && std::ranges::adjacent_find(seen) == seen.end(),
          "nobody else got the same number");
    barrier();
    check_equal((*counters).value(), 2 * each * procs(), "every call ran once");
    check_equal(counters[1].value(), 0, "and undid itself where it should");
    // A result of 40 bytes; a function that asks for memory of its own node.
    const auto wide = atomic(
        [](std::int64_t& value) {
          return std::array<std::int64_t, 5>{value, 1, 2, 3, 4};
        },
        counters + right());
    check_equal(wide[4], 4, "the last word of the result");
    const auto here = atomic(
        [](std::int64_t& value) {
          const std::int64_t same = *to_global(&value);
          return same == value ? my_proc() : -1;
        },
        counters + right());
    check_equal(here, right(), "it ran there, and reads its own memory as the program does");
  });
}

TEST_P(SplitC, FetchAddExchangeCompareSwapTestAndSet) {
  run_splitc(2, [](Node&) {
    const spread_ptr<std::uint32_t> words = all_spread_malloc<std::uint32_t>(procs() * 2);
    const spread_ptr<std::uint64_t> sum = all_spread_malloc<std::uint64_t>(1);
    const auto mine = words + my_proc();
    const auto other = words + right();
    check_equal(fetch_add(other, 5), 0u, "fetch_add");
    check_equal(exchange(other, 9), 5u, "exchange");
    check_equal(cmp_swap(other, 8, 1), 9u, "cmp_swap of another value");
    check_equal(cmp_swap(other, 9, 2), 9u, "cmp_swap");
    check_equal(test_and_set(other), 2u, "test_and_set");
    barrier();
    check_equal((*mine).value(), 1u, "what the neighbour left");
    for (std::uint64_t i = 0; i < rounds(100); ++i) fetch_add(sum, my_proc() + 1);
    barrier();
    check_equal((*sum).value(), rounds(100) * 3, "nothing was lost");
  });
}

TEST_P(SplitC, LocksExcludeEachOther) {
  run_splitc(3, [](Node& node) {
    const spread_array<Lock> locks(2);
    const spread_array<std::uint64_t> sum(3);
    for (std::uint64_t i = 0; i < rounds(40); ++i) {
      const LockGuard held(locks[1]);
      sum[2][0] += 1;  // read, then write
    }
    barrier();
    check_equal((*sum[2]).value(), rounds(40) * procs(), "nobody was in between");
    if (my_proc() == 2) {
      lock(locks[0]);
      check(!try_lock(locks[0]), "it is taken");
      check_throws<am::Error>([&] { lock(locks[0]); }, "this node holds it already");
    }
    barrier();
    if (my_proc() == 0) {
      check(!try_lock(locks[0]), "it is taken");
      check_throws<am::Error>([&] { unlock(locks[0]); }, "this node does not hold it");
      *sum[0] = ~std::uint64_t{0};
      check_throws<am::Error>([&] { lock(sum[0].as<Lock>()); }, "the word is no lock");
    }
    barrier();
    if (my_proc() == 2) unlock(locks[0]);
    barrier();
    for (std::uint64_t i = 0; i < rounds(20); ++i) {  // all try at once, and one at a time holds it
      while (!try_lock(locks[0])) test::poll_or_yield(node);
      check_equal((*locks[0]).value(), static_cast<Lock>(my_proc()) + 1, "it says who holds it");
      sum[1][0] += 1;
      unlock(locks[0]);
    }
    barrier();
    check_equal((*sum[1]).value(), rounds(20) * procs(), "nobody was in between");
  });
}

TEST_P(SplitC, ReductionsScansBroadcastAndGather) {
  run_splitc(3, [](Node& node) {
    const int i = my_proc() + 2;  // 2, 3, 4
    check_equal(all_bcast(my_proc() == 0 ? 7 : 0), 7, "all_bcast");
    check_equal(all_bcast(my_proc() == 2 ? 0.25 : 0.0, 2), 0.25, "all_bcast from another node");
    std::vector<double> many(5000, 0.25 * i);
    all_bcast(std::span(many), 1);
    check(many == std::vector<double>(5000, 0.75), "all_bcast of a vector");
    std::array<Pair, 2> pairs{Pair{i, 1}, Pair{2, i}};
    all_bcast(std::span(pairs));
    check(pairs == std::array{Pair{2, 1}, Pair{2, 2}}, "all_bcast of an array");
    all_bcast(std::span<int>());
    check_equal(all_reduce_to_all_add(i), 9, "add");
    check_equal(all_reduce_to_all_mul(i), 24, "mul");
    check_equal(all_reduce_to_all_max(i + 0.5), 4.5, "max");
    check_equal(all_reduce_to_all_min(i + 0.5), 2.5, "min");
    const std::array one{all_reduce_to_one_add(i), all_reduce_to_one_mul(i), all_reduce_to_one_max(i),
                         all_reduce_to_one_min(i)};
    on_one([&] { check(one == std::array{9, 24, 4, 2}, "all_reduce_to_one"); });
    check_equal(all_scan_add(i), my_proc() == 0 ? 2 : my_proc() == 1 ? 5 : 9, "all_scan_add");
    check_equal(all_scan_mul(i), my_proc() == 0 ? 2 : my_proc() == 1 ? 6 : 24, "all_scan_mul");
    check_equal(all_scan_max(-i), -2, "all_scan_max");
    check_equal(all_scan_min(-i), -i, "all_scan_min");
    check(all_gather(Pair{i, -i}) == std::vector<Pair>{{2, -2}, {3, -3}, {4, -4}}, "all_gather");
    check(procs_log() == 1 && procs() == 3 && my_proc() == static_cast<int>(node.id()),
          "PROCSLOG, PROCS, MYPROC");
    const double before = get_seconds();
    barrier();
    check(get_seconds() >= before, "get_seconds");
  });
}

static_assert(std::is_same_v<decltype(my_proc() - procs()), int>, "MYPROC and PROCS are ints");

void use_an_array(std::size_t n) {
  const local_spread_array<int> a(procs(), n);
  const local_block_array<int> b(n);
  a[right()][0] = my_proc() - procs();
  barrier();
  check(a.mine()[0] < 0 && b.mine().data() != a.mine(), "an array of the function");
}

TEST_P(SplitC, ArraysOfAFunctionAreGivenBackAtItsEnd) {
  run_splitc(2, [](Node& node) {
    for (int i = 0; i < 20; ++i) use_an_array(am::segment_bytes(node, 0) / (4 * sizeof(int)));
    check_throws<std::runtime_error>(
        [] {
          const local_spread_array<int> stays(procs(), 1);
          throw std::runtime_error("thrown");
        },
        "");
  });
}

struct Program {
  std::uint64_t heard = 0;
  void hear(am::Request& request) {
    ++heard;
    request.reply<&Program::hear_back>();
  }
  void hear_back(am::Reply&) { ++heard; }
};

TEST_P(SplitC, StandsBesideTheProgramsOwnState) {
  run<Program>(2, [](Node& node, Program& program) {
    {
      World world(node);
      const spread_ptr<std::int64_t> n = all_spread_malloc<std::int64_t>(procs());
      check_throws<am::Error>([&] { const World second(node); }, "this node has one");
      node.request<&Program::hear>(right());
      store(n + right(), 4);
      store_sync(8);
      atomic<add_here>(n + right(), 1);
      node.wait_until([&] { return program.heard == 2; });
      barrier();
      check_equal((*(n + my_proc())).value(), 5, "both were served");
    }
    check_throws<am::Error>([] { barrier(); }, "this thread has no World");
    World again(node);
    check_equal(all_reduce_to_all_add(1), 2, "another world, later");
  });
}

TEST_P(SplitC, RefusesWhatIsNoPlace) {
  run_splitc(2, [](Node& node) {
    const auto end = static_cast<std::int64_t>(am::segment_bytes(node, right()));
    const auto at = [&](int proc, std::int64_t offset) {
      return global_ptr<std::uint64_t>(
          am::GlobalPtr<std::uint64_t>(static_cast<NodeId>(proc), static_cast<std::uint64_t>(offset)));
    };
    struct Bad {
      global_ptr<std::uint64_t> place;
      std::string says;
    };
    std::uint64_t value = 0;
    std::array<std::uint64_t, 2> two{};
    for (const Bad& bad : {Bad{nullptr, "the global pointer is null"}, Bad{at(2, 0), "names no node"},
                           Bad{at(right(), end - 4), "are not in the segment"},
                           Bad{at(my_proc(), end), "are not in the segment"},
                           Bad{at(right(), 0) + PTRDIFF_MAX, "are not in the segment"},
                           Bad{at(my_proc(), 0) - 1, "are not in the segment"}}) {
      const auto refuses = [&](auto use) { check_throws<am::Error>(use, bad.says); };
      refuses([&] { value = *bad.place; });
      refuses([&] { *bad.place = 1; });
      refuses([&] { put(bad.place, 1); });
      refuses([&] { get(&value, bad.place); });
      refuses([&] { store(bad.place, 1); });
      refuses([&] { bulk_read(two.data(), bad.place, 16); });
      refuses([&] { bulk_write(bad.place, two.data(), 16); });
      refuses([&] { bulk_get(two.data(), bad.place, 16); });
      refuses([&] { bulk_put(bad.place, two.data(), 16); });
      refuses([&] { bulk_store(bad.place, two.data(), 16); });
      refuses([&] { fetch_add(bad.place, 1); });
      refuses([&] { atomic([](std::uint64_t& v) { v = 1; }, bad.place); });
      refuses([&] { lock(bad.place.as<Lock>() + 1); });
    }
    check_throws<am::Error>([&] { bulk_read(two, at(right(), end - 8)); }, "are not in the segment");
    check_throws<am::Error>([&] { static_cast<void>(at(right(), 0).local()); },
                            "points to another node's memory");
    check_throws<am::Error>([&] { static_cast<void>(to_global(&value)); }, "is not in this node's segment");
    sync();
    all_store_sync();
    check_throws<am::Error>([&] { static_cast<void>(all_spread_malloc<std::uint64_t>(SIZE_MAX, SIZE_MAX)); },
                            "has no room for");
    check_throws<am::Error>([&] { const spread_array_2d<char> wide(SIZE_MAX / 2, 8); }, "has no room for");
    check_throws<am::Error>([&] { static_cast<void>(local_malloc<std::uint64_t>(SIZE_MAX / 4)); },
                            "no room for");
    all_spread_free(spread_ptr<int>());
    local_free(static_cast<int*>(nullptr));
    std::string elsewhere;
    std::thread([&] { elsewhere = test::error_of([&] { put(at(0, 0), 1); }); }).join();
    check(elsewhere.find("this thread has no World") != std::string::npos, elsewhere);
  });
}

INSTANTIATE_TEST_SUITE_P(Model, SplitC, test::cells_of<SplitC>(), test::name_of);

/// Node 1 dies while it holds a lock. A node that waits for the lock is told.
TEST(SplitCDeath, EndsWhatNeedsTheNode) {
  struct Needs {
    const char* what;
    void (*call)(spread_ptr<std::int64_t>, const spread_array<Lock>&);
  };
  const std::array calls = {
      Needs{"atomic",
            [](spread_ptr<std::int64_t> n, const spread_array<Lock>&) {
              for (;;) atomic<add_here>(n + 1, 1);
            }},
      Needs{"store_sync", [](spread_ptr<std::int64_t>, const spread_array<Lock>&) { store_sync(8); }},
      Needs{"all_store_sync", [](spread_ptr<std::int64_t>, const spread_array<Lock>&) { all_store_sync(); }},
      Needs{"lock", [](spread_ptr<std::int64_t>, const spread_array<Lock>& locks) { lock(locks[0]); }}};
  for (const Needs& needs_node_1 : calls) {
    SCOPED_TRACE(needs_node_1.what);
    test::run_with_killed(2, 1, [&](Node& node) {
      node.on_peer_death([](Node&, NodeId) {});
      World world(node);
      const spread_ptr<std::int64_t> n = all_spread_malloc<std::int64_t>(procs());
      const spread_array<Lock> locks(1);
      if (my_proc() == 1) lock(locks[0]);
      barrier();
      if (my_proc() == 1) std::raise(SIGKILL);
      check_throws<am::Error>([&] { needs_node_1.call(n, locks); }, "node 1");
      std::int64_t own = *n;
      *n = own + 1;
      own = *n;
      check_equal(own, 1, "its own memory is there");
    });
  }
}

/// The World of node 0 ends by an exception, and does not wait for the others: what they send it then is for nobody.
TEST(SplitCDeathTest, EndsANodeWhoseWorldIsGone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(test::run_alone([](Node& node) {
                 struct Gone {};
                 try {
                   World world(node);
                   throw Gone();
                 } catch (const Gone&) {
                 }
                 node.request<&World::were_stored>(0, std::uint64_t{8});
                 node.wait_until([] { return false; });
               }),
               "the node's World has ended");
}

}  // namespace splitc_test
