// Global memory between nodes: by loads and stores where the substrate has them, by messages where a decorated network
// stands between (threads_with_faults).
#include <am/global.hpp>

#include <am/collectives.hpp>
#include <numeric>

#include "support/catching.hpp"
#include "support/job.hpp"
#include "support/patterns.hpp"

namespace global_memory_test {

using namespace am;
using namespace test;
using GlobalMemory = test::OnEveryNetwork;

NodeId right_of(const Node& node) { return (node.id() + 1) % node.size(); }
NodeId left_of(const Node& node) { return (node.id() + node.size() - 1) % node.size(); }

/// What node `writer` put into this node's `part`; the bytes around it untouched.
void check_part(Node& node, GlobalPtr<std::byte> part, std::size_t bytes, NodeId writer) {
  std::vector<std::byte> got(bytes + 2);
  am::get(node, part - 1, got);
  check(got.front() == std::byte{0} && got.back() == std::byte{0}, "a byte beside the range was written");
  check(is_patterned(&got[1], bytes, writer), std::to_string(bytes) + " bytes are what was put");
}

TEST_P(GlobalMemory, PutsAndGetsRangesOfEverySize) {
  run(4, [](Node& node) {
    for (const std::size_t bytes :
         {1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, 65'535, 65'536, 65'537, 1'048'583}) {
      const auto block = am::allocate_symmetric<std::byte>(node, bytes + 16);
      const auto part = block + static_cast<std::ptrdiff_t>(1 + bytes % 8);
      am::put(node, part.on(right_of(node)), patterned(bytes, node.id()));
      std::vector<std::byte> back(bytes);
      am::get(node, part.on(right_of(node)), back);
      check(back == patterned(bytes, node.id()), "what was put can be got back at once");
      node.barrier();
      check_part(node, part, bytes, left_of(node));
      node.barrier();
      am::deallocate(node, block);
    }
  });
}

struct Odd {
  char name[3];
};
struct Pair {
  std::int32_t a, b;
  friend bool operator==(const Pair&, const Pair&) = default;
};
struct Wide {
  double x[3];
  char tag;
};

TEST_P(GlobalMemory, PutsAndGetsSingleValuesOfEveryKind) {
  run(2, [](Node& node) {
    const auto room = am::allocate_symmetric<std::byte>(node, 4096).on(right_of(node));
    const auto exchange = [&](auto value, std::ptrdiff_t offset) {
      const auto place = (room + offset).as<decltype(value)>();
      am::put(node, place, value);
      return am::get(node, place);
    };
    for (std::ptrdiff_t offset = 0; offset < 9; ++offset) {  // aligned and not
      check_equal(exchange(std::uint8_t{200}, offset), 200, "8 bits");
      check_equal(exchange(std::int16_t{-2}, offset), -2, "16 bits");
      check_equal(exchange(1.5F, offset), 1.5F, "32 bits");
      check_equal(exchange(-2.25, offset), -2.25, "64 bits");
      check(exchange(Pair{-3, 7}, offset) == Pair{-3, 7}, "two words in one");
      check(std::memcmp(exchange(Odd{{'a', 'b', 'c'}}, offset).name, "abc", 3) == 0, "three bytes");
      const Wide wide = exchange(Wide{{1, 2, 3}, 'w'}, offset);
      check(wide.x[2] == 3 && wide.tag == 'w', "32 bytes");
      check(exchange(GlobalPtr<int>(1, 8), offset) == GlobalPtr<int>(1, 8), "a global pointer");
    }
    const GlobalPtr<const double> constant = room.as<double>();
    am::put(node, room.as<double>(), 4.5);
    check_equal(am::get(node, constant), 4.5, "through a pointer to const");
    node.barrier();
  });
}

TEST_P(GlobalMemory, DirectLeadsToTheMemoryWhereThereIsAWay) {
  run(2, [](Node& node) {
    const auto block = am::allocate_symmetric<std::uint64_t>(node, 4);
    check(am::direct(node, block, 4) == block.local(node), "to a node's own");
    am::Counter counter;
    am::begin_put(node, block.on(right_of(node)) + 1, 10 + node.id(), counter);  // of one value
    am::wait(node, counter);
    if (const std::uint64_t* there = am::direct(node, block.on(right_of(node)), 4))
      check_equal(there[1], 10 + node.id(), "to the peer's");
    std::uint64_t back = 0;
    am::begin_get(node, block.on(right_of(node)) + 1, back, counter);
    am::wait(node, counter);
    check_equal(back, 10 + node.id(), "one value is got");
    check_equal(counter.begun(), 2u, "both are counted");
    check_equal(counter.completed(), 2u, "as complete");
    check_throws<am::Error>([&] { static_cast<void>(am::direct(node, GlobalPtr<int>())); }, "is null");
    check_throws<am::Error>([&] { static_cast<void>(am::direct(node, block.on(2))); }, "names no node");
    check_throws<am::Error>([&] { static_cast<void>(am::direct(node, block, SIZE_MAX)); },
                            "more bytes than there are");
    node.barrier();
  });
}

TEST_P(GlobalMemory, RefusesWhatIsOutsideTheSegmentOfThePeer) {
  run(2, [](Node& node) {
    const NodeId peer = right_of(node);
    const auto size = static_cast<std::ptrdiff_t>(am::segment_bytes(node, peer));
    const GlobalPtr<std::byte> begin(peer, 0);
    const std::string other = std::to_string(peer);
    const std::string why = " bytes at the global pointer (node " + other + ", offset " +
                            std::to_string(size - 4) + ") are not in the segment of node " + other +
                            ", which has " + std::to_string(size) + " bytes";
    const auto word = (begin + (size - 4)).as<std::uint64_t>();
    std::array<std::uint64_t, 2> two{};
    am::Counter counter;
    std::uint64_t old = 0;
    const auto refuses = [&](const std::string& name, int bytes, auto access) {
      check_throws<am::Error>(
          access, name + " at node " + std::to_string(node.id()) + ": " + std::to_string(bytes) + why);
    };
    refuses("put", 8, [&] { am::put(node, word, 1); });
    refuses("put", 16, [&] { am::put(node, word, two); });
    refuses("put", 16, [&] { am::begin_put(node, word, two, counter); });
    refuses("get", 8, [&] { static_cast<void>(am::get(node, word)); });
    refuses("get", 16, [&] { am::get(node, word, two); });
    refuses("get", 16, [&] { am::begin_get(node, word, two, counter); });
    refuses("fetch_add", 8, [&] { am::fetch_add(node, word, 1); });
    refuses("exchange", 8, [&] { am::begin_exchange(node, word, 1, old, counter); });
    check_throws<am::Error>([&] { am::fetch_add(node, (begin + 4).as<std::uint64_t>(), 1); },
                            "is not aligned");
    check_throws<am::Error>([&] { am::put(node, word.on(2), 1); }, "names no node: the job has nodes 0 to 1");
    check_throws<am::Error>([&] { static_cast<void>(begin.local()); }, "points to another node's memory");
    check_equal(counter.begun(), 0u, "nothing was begun");
    node.barrier();
    std::array<std::byte, 4> last{};
    am::get(node, begin + (size - 4), last);
    check(last == std::array<std::byte, 4>{}, "nothing was written");
    node.barrier();
  });
}

/// Four nodes do it at the same time. They add to sums, they hold a lock that guards plain gets and puts, and they exchange values.
TEST_P(GlobalMemory, ChangesAWordInOneStep) {
  run(4, [](Node& node) {
    const auto wide = am::allocate_symmetric<std::int64_t>(node).on(0);
    const auto narrow = am::allocate_symmetric<std::uint32_t>(node).on(0);
    const auto lock = am::allocate_symmetric<std::uint32_t>(node).on(3);
    const auto guarded = am::allocate_symmetric<std::uint64_t>(node).on(3);
    const auto place = am::allocate_symmetric<std::uint64_t>(node).on(1);
    const auto terms = static_cast<std::int64_t>(rounds(5'000));
    std::int64_t last = -3;
    for (std::int64_t i = 0; i < terms; ++i) {
      const std::int64_t before = am::fetch_add(node, wide, 3);
      check(before >= last + 3, "what a node sees only grows");
      last = before;
      am::fetch_add(node, narrow, 0xffff'fff0u);  // wraps around
    }
    const std::uint64_t turns = rounds(1'000);
    const std::uint32_t own = node.id() + 1;
    for (std::uint64_t i = 0; i < turns; ++i) {
      while (am::compare_swap(node, lock, 0, own) != 0) poll_or_yield(node);
      am::put(node, guarded, am::get(node, guarded) + 1);
      check_equal(am::compare_swap(node, lock, own, 0), own, "the holder of the lock");
    }
    std::uint64_t held = own;
    for (std::uint64_t i = 0; i < rounds(2'000); ++i) held = am::exchange(node, place, held);
    const std::vector<std::uint64_t> all = am::all_gather(node, held);
    check_equal(std::accumulate(all.begin(), all.end(), am::get(node, place)), 1u + 2 + 3 + 4,
                "what each held, and the 0 that was there");
    check_equal(am::get(node, wide), 3 * terms * node.size(), "the sum");
    check_equal(am::get(node, narrow), static_cast<std::uint32_t>(-16 * terms * node.size()),
                "the sum modulo 2^32");
    check_equal(am::get(node, guarded), turns * node.size(), "increments under the lock");
    node.barrier();
  });
}

TEST_P(GlobalMemory, CountsSplitPhaseOperations) {
  run(4, [](Node& node) {
    constexpr std::size_t values = 50'000;
    const auto data = am::allocate_symmetric<std::uint64_t>(node, values);
    const auto sum = am::allocate_symmetric<std::uint64_t>(node);
    const auto word = am::allocate_symmetric<std::uint64_t>(node);
    std::vector<std::uint64_t> out(values);
    std::iota(out.begin(), out.end(), std::uint64_t{1000} * node.id());
    am::Counter puts;
    for (std::size_t at = 0; at < values; at += values / 10) {
      const auto part = std::span(out).subspan(at, values / 10);
      am::begin_put(node, data.on(right_of(node)) + static_cast<std::ptrdiff_t>(at), part, puts);
      std::ranges::fill(part, 0);  // it was copied
    }
    check_equal(puts.begun(), 10u, "operations begun");
    am::wait(node, puts, 5);
    check(puts.completed() >= 5, "five are complete");
    am::wait(node, puts);
    check_equal(puts.completed(), 10u, "operations complete");
    node.barrier();

    am::Counter gets;
    std::vector<std::uint64_t> in(values);
    std::array<std::uint64_t, 3> before{};
    am::begin_get(node, data.on(right_of(node)), in, gets);
    am::begin_fetch_add(node, sum.on(0), 1, before[0], gets);
    am::begin_exchange(node, word.on(right_of(node)), 9, before[1], gets);
    am::wait(node, gets);
    am::begin_compare_swap(node, word.on(right_of(node)), 9, 10, before[2], gets);
    am::wait(node, gets);
    check_equal(gets.completed(), 4u, "operations complete");
    for (std::size_t i = 0; i < values; ++i)
      check_equal(in[i], std::uint64_t{1000} * node.id() + i, "a value of what was put");
    check(before[0] < node.size() && before[1] == 0 && before[2] == 9, "old values");
    check_equal(am::get(node, word.on(right_of(node))), 10u, "the swapped word");
    node.barrier();
    check_equal(am::get(node, sum.on(0)), node.size(), "the sum");
    node.barrier();
  });
}

/// Gets of any length, of two nodes in turn, some of them given up while they are gathered or under way, and their memory freed (address
/// sanitizer would see a late write): what the others get is theirs.
TEST_P(GlobalMemory, GetsOfAnyLengthComeBackEachToItsPlace) {
  run(4, [](Node& node) {
    constexpr std::size_t all = 100'000;
    const auto data = am::allocate_symmetric<std::byte>(node, all);
    std::ranges::copy(patterned(all, node.id()), data.local(node));
    node.barrier();
    test::Random random(test::mix(test::seed(), node.id()));
    struct Part {
      NodeId owner;
      std::size_t at;
      std::vector<std::byte> bytes;
    };
    for (std::uint64_t round = 0; round < rounds(20); ++round) {
      am::Counter kept;
      std::vector<Part> parts;
      {
        std::vector<Part> given_up_parts;
        am::Counter given_up;  // goes before what it is for
        const std::uint64_t gets = random.below(600);
        parts.reserve(gets);
        given_up_parts.reserve(gets);
        for (std::uint64_t i = 0; i < gets; ++i) {
          const auto owner = static_cast<NodeId>((node.id() + 1 + random.below(2)) % node.size());
          const std::size_t bytes = 1 + random.below(random.one_in(300)  ? all
                                                     : random.one_in(20) ? 3000
                                                                         : 70);
          const std::size_t at = random.below(all - bytes + 1);
          const bool give_up = random.one_in(4);
          Part& part =
              (give_up ? given_up_parts : parts).emplace_back(Part{owner, at, std::vector<std::byte>(bytes)});
          am::begin_get(node, data.on(owner) + static_cast<std::ptrdiff_t>(at), part.bytes,
                        give_up ? given_up : kept);
          if (random.one_in(100)) node.poll();
        }
      }
      am::wait(node, kept);
      for (const Part& part : parts)
        check(is_patterned(part.bytes.data(), part.bytes.size(), part.owner, part.at), "its owner's bytes");
    }
    node.barrier();
  });
}

/// Puts of any length to the same place, none of them waited for before the next, to a node that looks only now and then: the
/// last one stays. (Nothing promises that, and networks that move long ones themselves have no order.)
TEST_P(GlobalMemory, WritesPutsOfOneNodeOverEachOtherInOrder) {
  constexpr std::array by_messages = {
      "shm", "tcp", "t1", "mmachine", "ncube2", "cm5", "cm5_swapped", "two_hosts_tcp", "two_hosts_tls"};
  const bool in_order = std::ranges::find(by_messages, GetParam().network->name) != by_messages.end();
  run(2, [in_order](Node& node) {
    constexpr std::size_t longest = 300'000;
    const auto data = am::allocate_symmetric<std::byte>(node, longest);
    test::Random random(test::seed());  // both know all puts
    std::vector<std::byte> expected(longest);
    for (std::uint64_t i = 0; i < rounds(40); ++i) {
      am::Counter puts;
      for (std::uint64_t n = 1 + random.below(8); n != 0; --n) {
        const std::size_t bytes = 1 + random.below(random.one_in(2) ? 200 : longest);
        const std::size_t at = random.below(longest - bytes + 1);
        std::fill_n(expected.data() + at, bytes, static_cast<std::byte>(random()));
        const std::span<const std::byte> part(expected.data() + at, bytes);
        if (node.id() == 0) am::begin_put(node, data.on(1) + static_cast<std::ptrdiff_t>(at), part, puts);
        if (!in_order) am::wait(node, puts);
        if (random.one_in(3) && node.id() == 1) node.poll();
      }
      am::wait(node, puts);
      node.barrier();
      check(node.id() == 0 || std::equal(expected.begin(), expected.end(), data.local(node)),
            "what was put last");
      node.barrier();
    }
  });
}

struct Letters {
  static constexpr std::size_t longest = 100'000;
  explicit Letters(Node& node) : room(am::allocate_symmetric<std::byte>(node, longest)) {}
  GlobalPtr<std::byte> room;
  std::uint64_t taken = 0;
};
void letter_came(am::Request& request, GlobalPtr<std::byte> where, std::uint64_t bytes,
                 std::uint64_t number) {
  auto& letters = request.state<Letters>();
  check(is_patterned(where.local(), bytes, number), "the handler sees what was put before");
  check_equal(number, letters.taken, "letters come in order");
  ++letters.taken;
}

TEST_P(GlobalMemory, NotifiesAfterTheDataIsThere) {
  run<Letters>(4, [](Node& node, const Letters& letters) {
    node.barrier();
    test::Random random(test::seed());  // every node writes letters of the same lengths
    for (std::uint64_t i = 0; i < rounds(300); ++i) {
      const std::size_t bytes = random.below(random.one_in(4) ? Letters::longest : 200);
      const auto data = patterned(bytes, i);
      const auto where = letters.room.on(right_of(node));
      check_ok(am::put_notify<letter_came>(node, where, data, where, bytes, i));
      node.wait_until([&] { return letters.taken > i; });
      node.barrier();  // the room is used again
    }
  });
}

struct Noise {
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  void ask(am::Request& request) {
    ++asked;
    request.reply<&Noise::answer>();
  }
  void answer(am::Reply&) { ++answered; }
};

/// What is under way comes to its end whatever runs meanwhile: handlers of both levels, posts that poll, others' puts and gets.
TEST_P(GlobalMemory, IsUnderWayWhileAnythingRuns) {
  run<Noise>(4, [](Node& node, const Noise& noise) {
    constexpr std::size_t longest = 6'000;
    const auto place = am::allocate_symmetric<std::byte>(node, longest).on(right_of(node));
    node.barrier();
    test::Random random(test::mix(test::seed(), node.id()));
    std::uint64_t asked = 0;
    for (std::uint64_t round = 0; round < rounds(150); ++round) {
      const std::size_t bytes = 1 + random.below(random.one_in(3) ? longest : 64);
      const auto data = patterned(bytes, round);
      std::vector<std::byte> back(bytes);
      am::Counter counter;
      for (int i = 0; i < 3; ++i, ++asked) static_cast<void>(node.request<&Noise::ask>(left_of(node)));
      am::begin_put(node, place, data, counter);
      node.post([](Node& n) { n.poll(); });
      am::wait(node, counter);
      am::begin_get(node, place, std::span(back), counter);
      node.post([](Node& n) { n.poll(); });
      if (random.one_in(2)) node.poll();
      am::wait(node, counter);
      check(back == data, "what was put is got");
    }
    node.wait_until([&] { return noise.answered == asked; });
    node.barrier();
    check_equal(noise.asked, asked, "asked");
  });
}

/// Who gets a word that was put sees it whole, and what was put before it.
TEST_P(GlobalMemory, ShowsPutsInOrderToWhoGetsALaterWord) {
  run(2, [](Node& node) {
    const auto data = am::allocate_symmetric<std::uint64_t>(node, 64).on(1);
    const auto flag = am::allocate_symmetric<std::uint64_t>(node).on(1);
    const auto seen = am::allocate_symmetric<std::uint64_t>(node).on(1);
    for (std::uint64_t i = 1; i <= rounds(2'000); ++i) {
      const std::uint64_t both_halves = i << 32 | i;
      const auto wait_for = [&](GlobalPtr<std::uint64_t> word) {  // a put wakes nobody who sleeps
        for (std::uint64_t got = 0; got != both_halves; poll_or_yield(node)) {
          got = am::get(node, word);
          check_equal(got >> 32, got & 0xffff'ffff, "both halves");
        }
      };
      if (node.id() == 0) {
        am::put(node, data, std::vector<std::uint64_t>(64, i));
        am::put(node, flag, both_halves);
        wait_for(seen);
      } else {
        wait_for(flag);
        std::array<std::uint64_t, 64> got{};
        am::get(node, data, got);
        for (const std::uint64_t value : got) check_equal(value, i, "data put before the flag");
        am::put(node, seen, both_halves);
      }
    }
    node.barrier();
  });
}

TEST_P(GlobalMemory, AllocatesSymmetricallyWhateverEachNodeAllocatesForItself) {
  run(4, [](Node& node) {
    std::vector<GlobalPtr<std::uint64_t>> own;
    for (std::size_t i = 0; i < 20; ++i) {
      for (std::size_t k = 0; k < node.id(); ++k)
        own.push_back(am::allocate<std::uint64_t>(node, 10 * k + i));
      const auto shared = am::allocate_symmetric<std::uint64_t>(node, 100 + i);
      check(shared.node() == node.id() && shared.local() != nullptr, "each node gets its own part");
      for (const std::uint64_t offset : am::all_gather(node, shared.offset()))
        check_equal(offset, shared.offset(), "the offset everywhere");
      am::put(node, shared.on(right_of(node)) + 99, node.id());
      node.barrier();
      check_equal(am::get(node, shared + 99), left_of(node), "the neighbour reached the part");
      if (i % 3 == 0) {
        node.barrier();
        am::deallocate(node, shared);
      }
    }
    for (const auto p : own) am::deallocate(node, p);
    node.barrier();
  });
}

TEST_P(GlobalMemory, TellsEveryNodeThatASymmetricAllocationCannotBe) {
  const test::Environment small("AM_SEGMENT", "64KiB");
  run(4, [](Node& node) {
    const std::size_t most = am::segment_bytes(node, node.id());
    const auto half = node.id() == 1 ? am::allocate<std::byte>(node, most / 2) : GlobalPtr<std::byte>();
    check_throws<am::Error>([&] { static_cast<void>(am::allocate_symmetric<std::byte>(node, most / 2 + 1)); },
                            "node 1 has no room for");
    check_throws<am::Error>(
        [&] { static_cast<void>(am::allocate_symmetric<std::byte>(node, 8 + node.id())); },
        "the nodes ask for different sizes, from 8 to 11 bytes");
    am::deallocate(node, half);
    am::deallocate(node, am::allocate_symmetric<std::byte>(node, most));  // nothing was lost by the errors
    node.barrier();
  });
}

struct Noted {
  std::uint64_t count = 0;
};
void note(am::Request& request) { ++request.state<Noted>().count; }

/// Also where what is put and got later takes another way.
TEST_P(GlobalMemory, PutNotifyComesBeforeWhatIsPutAndGotLater) {
  run<Noted>(2, [](Node& node, Noted& noted) {
    constexpr std::size_t words = 10'000;
    const auto range = am::allocate_symmetric<std::uint64_t>(node, words);
    const std::uint64_t all = rounds(20);
    std::vector<std::uint64_t> there(words);
    for (std::uint64_t i = 1; i <= all && node.id() == 0; ++i) {
      const std::vector<std::uint64_t> values(words, i);
      const std::vector<std::uint64_t> others(words, 1000 + i);
      check_ok(am::put_notify<note>(node, range.on(1), values));
      if (i % 2 == 0) {
        am::get(node, range.on(1), there);
        check(there == values, "what was put");
      } else {
        am::put(node, range.on(1), others);
        am::get(node, range.on(1), there);
        check(there == others, "what was put later");
        if (i % 3 == 0) node.wait_until([&] { return true; });
      }
    }
    if (node.id() == 1) node.wait_until([&] { return noted.count == all; });
    node.barrier();
  });
}

struct Thrown {};
struct Catches {
  bool no_more = false;
};
void throw_up(am::Request&) { throw Thrown(); }
void no_more(am::Request& request) { request.state<Catches>().no_more = true; }

/// A handler that throws out of begin_... has undone it: the counter waits for nothing, and it may be begun again.
TEST_P(GlobalMemory, MayBeginAgainWhatAHandlerThrewOutOf) {
  run<Catches>(2, [](Node& node, const Catches& catches) {
    constexpr std::size_t words = 200'000;
    const auto range = am::allocate_symmetric<std::uint64_t>(node, words);
    const auto sum = am::allocate_symmetric<std::uint64_t>(node);
    const auto throwers = [&] {  // for node 0, from node 1
      for (int i = 0; node.id() == 1 && i < 10; ++i) {
        if (node.try_request<throw_up>(0) != am::Status::ok) return;
      }
    };
    am::Counter counter;
    std::uint64_t begun = 0;
    const auto insist = [&](auto begin) {
      while (test::catches<Thrown>(
          node, begin, [&](const Thrown&) { check_equal(counter.begun(), begun, "none was begun"); })) {
      }
      check_equal(counter.begun(), ++begun, "one was begun");
    };
    const auto until_nothing_is_thrown = [&](auto wait) {
      while (test::catches<Thrown>(node, wait)) {
      }
    };
    const auto wait_for_all = [&] {
      until_nothing_is_thrown([&] { am::wait(node, counter); });
      check_equal(counter.completed(), begun, "operations");
    };
    const auto gather = [&] { test::catches<Thrown>(node, [&] { node.barrier(); }); };
    for (std::uint64_t i = 1; i <= rounds(20); ++i) {
      std::vector<std::uint64_t> values(words);
      std::uint64_t tries = 0;
      throwers();
      gather();
      throwers();
      if (node.id() == 0) {
        insist([&] {  // with other values each time: nothing of what was given up comes later
          ++tries;
          for (std::size_t k = 0; k < words; ++k) values[k] = test::mix(i, tries + k);
          am::begin_put(node, range.on(1), values, counter);
        });
        wait_for_all();
        std::vector<std::uint64_t> back(words);
        insist([&] { am::begin_get(node, range.on(1), back, counter); });
        wait_for_all();
        check(back == values, "what was put, and got back");
        std::array<std::uint64_t, 100> old{};
        for (std::uint64_t& place : old)
          insist([&] { am::begin_fetch_add(node, sum.on(1), 1, place, counter); });
        wait_for_all();
        check_equal(old.back(), 100 * i - 1, "what the last one found");
      }
      gather();
      if (node.id() == 1) check_equal(*sum.local(node), 100 * i, "each was added once");
      gather();
    }
    // Behind all that throw: none of them comes any more when node 0 leaves.
    if (node.id() == 1) check_ok(node.request<no_more>(0));
    until_nothing_is_thrown([&] { node.wait_until([&] { return catches.no_more || node.id() == 1; }); });
    gather();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, GlobalMemory, test::cells_of<GlobalMemory>(), test::name_of);

/// Where memory is reached by messages, a node that is no longer there cannot be asked.
TEST(RemoteMemory, SaysThatThePeerHasLeft) {
  test::run_job({test::Nodes::threads_with_faults}, 2, [](Node& node) {
    const auto word = am::allocate_symmetric<std::uint64_t>(node);
    if (node.id() == 1) return;
    am::Counter counter;
    check_throws<am::Error>(
        [&] {
          for (;;) static_cast<void>(am::get(node, word.on(1)));
        },
        "node 1 (pid");
    check_throws<am::Error>([&] { am::put(node, word.on(1), 5); }, "has left the job");
    am::put(node, word, 5);
    check_equal(am::get(node, word), 5u, "the own memory is still there");
  });
}

void nothing(am::Request&) {}

/// What a node has begun to get may be gone when it leaves: nothing is written there any more. Nor does its counter, which lives
/// longer, wait for anything.
TEST(RemoteMemory, WritesNothingForWhoHasLeft) {
  const test::Environment tcp("AM_TRANSPORT", "tcp");
  for (int round = 0; round < 10; ++round) {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    std::vector<std::byte> into(bytes);
    am::Counter gets;
    am::Counter puts;
    am::run_threads(2, [&](Node& node) {
      const auto data = am::allocate_symmetric<std::byte>(node, bytes);
      node.barrier();
      if (node.id() == 0) {
        const std::vector<std::byte> out(bytes);
        am::begin_get(node, data.on(1), into, gets);
        am::begin_get(node, data.on(1), into.front(), gets);
        am::begin_put(node, data.on(1), out, puts);
        am::begin_get(node, data.on(1), into.back(), gets);  // gathered, and not asked for before it leaves
        std::ranges::fill(into, std::byte{0xee});
      } else {
        while (node.try_request<nothing>(0) != am::Status::unreachable) node.poll();
      }
    });
    EXPECT_EQ(std::ranges::count(into, std::byte{0xee}), std::ptrdiff_t{bytes});
  }
}

#ifdef AM_CHECKED
void reach_far(am::Request& request, GlobalPtr<std::uint64_t> far) { am::put(request.node(), far, 1); }

TEST(GlobalMemoryDeath, OfAHandlerThatReachesForAnotherNodesMemory) {
  const auto program = [] {
    am::run_threads(2, [](Node& node) {
      const auto word = am::allocate_symmetric<std::uint64_t>(node);
      if (node.id() == 0) static_cast<void>(node.request<reach_far>(1, word.on(0)));
      node.barrier();
      node.wait_until([] { return false; });
    });
  };
  EXPECT_DEATH(program(), "handler .*reach_far reaches for the memory of node 0");
}
#endif

}  // namespace global_memory_test
