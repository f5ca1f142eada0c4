// Guarded memory between nodes (am/guarded_ptr.hpp): what is permitted is done; what is forged, widened, stale or outside is refused by the
// owner, counted there, and reported to who asked. On shared memory and TCP: there is one way on every network, by messages.
#include <am/guarded_ptr.hpp>

#include <am/collectives.hpp>
#include <am/counters.hpp>
#include <numeric>

#include "support/job.hpp"
#include "support/patterns.hpp"

namespace guarded_memory_test {

using namespace am;
using am::impl::GuardedBits;
using namespace test;
using GuardedMemory = test::OnEverySubstrate;

constexpr std::size_t words = 64;
using Memory = std::array<std::uint64_t, words>;

void check_status(GuardStatus got, GuardStatus expected, std::string_view what) {
  check_equal(to_string(got), to_string(expected), what);
}

/// Node 0 guards its memory, and all others get the pointer.
template <class T>
GuardedPtr<T> from_node_0(Node& node, T* memory, std::size_t count, Rights rights) {
  GuardedPtr<T> mine;
  if (node.id() == 0) mine = am::guard(node, memory, count, rights);
  return am::broadcast(node, mine);
}

/// Changes what a pointer says, as whoever holds it can.
template <class T, class F>
GuardedPtr<T> changed(const GuardedPtr<T>& p, F change) {
  GuardedBits bits = p.bits();
  change(bits);
  return GuardedPtr<T>(bits);
}

GuardedPtr<std::uint64_t> owned_by(NodeId owner, const GuardedPtr<std::uint64_t>& p) {
  return changed(p, [owner](GuardedBits& bits) {
    bits.name = GuardedBits::name_of(owner, bits.slot(), bits.rights(), bits.generation());
  });
}

TEST_P(GuardedMemory, IsWrittenAndReadThroughItsPointer) {
  run(3, [](Node& node) {
    Memory memory{};
    const auto p = from_node_0(node, memory.data(), words, Rights::read_write);
    check_equal(p.node(), 0u, "owner");
    for (std::uint64_t i = 0; i < rounds(200); ++i) {
      const auto place = p + static_cast<std::ptrdiff_t>(node.id() + 3 * (i % 8));
      check_status(am::put(node, place, i << 8 | node.id()), GuardStatus::ok, "put");
      std::uint64_t back = 0;
      check_status(am::get(node, place, back), GuardStatus::ok, "get");
      check_equal(back, i << 8 | node.id(), "what was put is got");
    }
    const auto sum = p + (words - 1);
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < rounds(100); ++i)
      check_status(am::fetch_add(node, sum, 2, before), GuardStatus::ok, "fetch_add");
    node.barrier();
    check_status(am::get(node, GuardedPtr<const std::uint64_t>(sum), before), GuardStatus::ok, "get");
    check_equal(before, 6 * rounds(100), "each was added once");
    node.barrier();
    if (node.id() == 1) {
      const auto half = sum.as<std::uint32_t>();
      std::uint32_t old = 0;
      check_status(am::exchange(node, half, 7, old), GuardStatus::ok, "exchange");
      check_status(am::compare_swap(node, half, 8, 9, old), GuardStatus::ok, "compare_swap");
      check_equal(old, 7u, "what was there");
      check_status(am::compare_swap(node, half, 7, 9, old), GuardStatus::ok, "compare_swap");
      check_status(am::get(node, half, old), GuardStatus::ok, "get");
      check_equal(old, 9u, "was swapped");
      check_throws<am::Error>(
          [&] {
            static_cast<void>(am::fetch_add(node, (half.as<std::byte>() + 2).as<std::uint32_t>(), 1, old));
          },
          "not aligned to 4 bytes");
    }
    node.barrier();
    check_equal(am::counters(node).refused_accesses, 0u, "nothing was refused");
  });
}

/// And refuses a long one that does not fit as a whole, not from where it leaves the segment.
TEST_P(GuardedMemory, TakesRangesOfEverySize) {
  run(2, [](Node& node) {
    constexpr std::size_t most = 2'500'001;
    std::vector<std::byte> memory(most + 2);
    const auto p = from_node_0(node, memory.data() + 1, most, Rights::read_write);
    const auto reads = from_node_0(node, memory.data() + 1, most, Rights::read);
    if (node.id() == 1) {
      std::vector<std::byte> out;
      std::vector<std::byte> back;
      for (const std::size_t bytes : {1ul, 7ul, 64ul, 1025ul, 65'537ul, 1ul << 20, (1ul << 20) + 1, most}) {
        out = patterned(bytes, bytes);
        back.resize(bytes);
        const auto place = p + static_cast<std::ptrdiff_t>(most - bytes);
        check_status(am::put(node, place, out), GuardStatus::ok, "put");
        check_status(am::get(node, place, back), GuardStatus::ok, "get");
        check(back == out, "what was put is got");
      }
      check_status(am::put(node, p, std::span<const std::byte>()), GuardStatus::ok, "nothing is nothing");
      const std::vector<std::byte> other(most, std::byte{0xee});
      back = other;
      check_status(am::put(node, p + 1, other), GuardStatus::out_of_bounds, "one byte too far");
      check_status(am::put(node, reads, other), GuardStatus::not_permitted, "only to be read");
      check_status(am::get(node, p + 1, back), GuardStatus::out_of_bounds, "one byte too far");
      check(back == other, "and nothing is read");
      check_status(am::get(node, reads, back), GuardStatus::ok, "get");
      check(back == out, "and nothing is written");
    }
    node.barrier();
    check(memory.front() == std::byte{0} && memory.back() == std::byte{0}, "bytes beside it are untouched");
    check_equal(am::counters(node).refused_accesses, node.id() == 0 ? 3u : 0u, "counted at the owner");
    node.barrier();
  });
}

TEST_P(GuardedMemory, RefusesWhatIsForgedWidenedOrOutside) {
  run(3, [](Node& node) {
    Memory memory;
    std::iota(memory.begin(), memory.end(), 1000);
    const Memory as_it_was = memory;
    const auto both = from_node_0(node, memory.data() + 8, words - 16, Rights::read_write);
    const auto reads = from_node_0(node, memory.data() + 8, words - 16, Rights::read);
    const auto writes = from_node_0(node, memory.data() + 8, words - 16, Rights::write);
    auto revoked = from_node_0(node, memory.data() + 8, words - 16, Rights::read_write);
    if (node.id() == 0) check_status(am::revoke(node, revoked), GuardStatus::ok, "revoked");
    node.barrier();

    std::uint64_t tried = 0;
    const auto refused = [&](const GuardedPtr<std::uint64_t>& p, GuardStatus why, std::string_view what) {
      std::uint64_t value = 5;
      check_status(am::put(node, p, 4711), why, what);
      check_status(am::fetch_add(node, p, 1, value), why, what);
      check_equal(value, 5u, "nothing was read");
      tried += 2;
      if (why == GuardStatus::not_permitted) return;
      check_status(am::get(node, p, value), why, what);
      check_equal(value, 5u, "nothing was read");
      ++tried;
    };
    if (node.id() != 2) {  // the owner's own are no others
      const auto forged = [&](std::string_view what, const auto& p, auto change) {
        refused(changed(p, change), GuardStatus::forged, what);
      };
      forged("another MAC", both, [](GuardedBits& p) { p.mac ^= 1; });
      forged("no MAC", both, [](GuardedBits& p) { p.mac = 0; });
      forged("longer", both, [](GuardedBits& p) { p.bytes += 8; });
      forged("from before it", both, [](GuardedBits& p) { p.base -= 8; });
      forged("more rights", reads,
             [](GuardedBits& p) { p.name |= std::uint64_t{3} << GuardedBits::rights_at; });
      forged("another one's MAC", reads, [&](GuardedBits& p) { p.mac = both.bits().mac; });
      forged("a later generation", revoked, [](GuardedBits& p) { ++p.name; });
      refused(revoked, GuardStatus::stale, "was revoked");
      refused(reads, GuardStatus::not_permitted, "may be read");
      refused(both + (words - 16), GuardStatus::out_of_bounds, "its end");
      refused(both + words, GuardStatus::out_of_bounds, "behind its end");
      refused(both - 1, GuardStatus::out_of_bounds, "in front of it");
      refused(changed(both, [](GuardedBits& p) { p.offset = 0 - std::uint64_t{8}; }),
              GuardStatus::out_of_bounds, "around the end of all addresses");
      refused((both.as<std::uint32_t>() + 2 * (words - 16) - 1).as<std::uint64_t>(),
              GuardStatus::out_of_bounds, "half of it inside");
      std::uint64_t value = 5;
      check_status(am::get(node, writes, value), GuardStatus::not_permitted, "may be written");
      check_equal(value, 5u, "nothing was read");
      ++tried;
      check_status(am::get(node, reads, value), GuardStatus::ok, "may be read");
      check_equal(value, as_it_was[8], "and is");
    }
    // A node that has guarded nothing has no key, and is asked by all.
    std::uint64_t value = 5;
    check_status(am::get(node, owned_by(2, both), value), GuardStatus::forged,
                 "of a node that has made none");

    check_throws<am::Error>(
        [&] { static_cast<void>(am::get(node, GuardedPtr<std::uint64_t>(), value)); },
        "guarded get at node " + std::to_string(node.id()) + ": the guarded pointer is null");
    check_throws<am::Error>([&] { static_cast<void>(am::put(node, owned_by(3, both), 1)); },
                            "owner, 3, is no node of this job");

    const std::vector<std::uint64_t> all = am::all_gather(node, tried);
    node.barrier();
    const std::uint64_t expected = node.id() == 0 ? all[0] + all[1] : node.id() == 2 ? 3 : 0;
    check_equal(am::counters(node).refused_accesses, expected, "each is counted at its target");
    check(memory == as_it_was, "nothing was written");
    node.barrier();
  });
}

/// A pointer that was asked for by a message, and is used by who got it, until its owner takes it back.
struct Shop {
  explicit Shop(Node& its_node) : node(&its_node) {}
  Node* node;
  std::array<std::uint64_t, 4> memory{1, 2, 3, 4};
  GuardedPtr<std::uint64_t> got;
  bool done = false;
  std::uint64_t back = 0;

  void sold(am::Reply&, GuardedPtr<std::uint64_t> p, std::uint64_t /*beside it*/) {
    got = p;
    done = true;
  }
  void buy(am::Request& request) {
    const NodeId to = request.from();
    request.post([this, to](Node& owner) {
      static_cast<void>(owner.reply_to<&Shop::sold>(
          to, am::guard(owner, memory.data(), memory.size(), Rights::read_write), std::uint64_t{0}));
    });
  }
  void give_back(am::Request&, GuardedPtr<std::uint64_t> p) {
    node->post([this, p](Node& owner) {
      check_status(am::revoke(owner, p), GuardStatus::ok, "revoke");
      ++back;
    });
  }
};

TEST_P(GuardedMemory, IsNotReachedAnyMoreWhenItWasRevoked) {
  run<Shop>(2, [](Node& node, Shop& shop) {
    node.barrier();
    const std::uint64_t turns = rounds(20);
    if (node.id() == 1) {
      for (std::uint64_t i = 0; i < turns; ++i) {
        const auto last = shop.got;
        static_cast<void>(node.request<&Shop::buy>(0));
        node.wait_until([&] { return std::exchange(shop.done, false); });
        check_status(am::put(node, shop.got + 1, i), GuardStatus::ok, "it is there");
        static_cast<void>(node.request<&Shop::give_back>(0, shop.got));
        GuardStatus status = GuardStatus::ok;
        while (status == GuardStatus::ok) status = am::put(node, shop.got + 1, i);
        check_status(status, GuardStatus::stale, "it was revoked");
        if (last) check_status(am::put(node, last, i), GuardStatus::stale, "and so was the one before");
        check_throws<am::Error>([&] { am::revoke(node, shop.got); }, "the guarded pointer is node 0's");
      }
    } else {
      node.wait_until([&] { return shop.back == turns; });
    }
    node.barrier();
    if (node.id() == 0) check_equal(shop.memory[1], turns - 1, "the last that was put");
    node.barrier();
  });
}

TEST_P(GuardedMemory, IsGoneWithItsOwner) {
  run(2, [](Node& node) {
    static std::uint64_t outlives_its_node = 3;
    const auto p = from_node_0(node, &outlives_its_node, 1, Rights::read);
    node.barrier();
    if (node.id() == 0) return;
    std::uint64_t value = 0;
    check_throws<am::Error>(
        [&] {
          while (am::get(node, p, value) == GuardStatus::ok) node.poll();
        },
        "has left the job");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, GuardedMemory,
                         testing::ValuesIn(test::cells(GuardedMemory::suite,
                                                       std::span(test::networks).first(2))),
                         test::name_of);

}  // namespace guarded_memory_test
