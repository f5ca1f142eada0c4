// What a node's guards say of a pointer, and what arithmetic makes of one; between nodes: tests/conformance/guarded_memory_test.cpp.
#include "core/memory/guards.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/check.hpp"
#include "support/random.hpp"

namespace am::core::guards_test {

using enum GuardStatus;
using Bits = impl::GuardedBits;
using test::error_of;

std::array<std::uint64_t, 16> memory;

/// Every length at every offset around the edges, and where sums wrap around.
TEST(Guards, CheckBoundsWithoutOverflow) {
  Guards guards(0);
  const Bits guarded = guards.make(memory.data(), 16, Rights::read);
  std::vector<std::uint64_t> numbers{0, 1, 7, 8, 15, 16, 17, UINT64_MAX - 1, UINT64_MAX};
  for (const unsigned bit : {31, 40, 63}) numbers.push_back(std::uint64_t{1} << bit);
  for (const std::uint64_t offset : numbers) {
    for (const std::uint64_t bytes : numbers) {
      Bits moved = guarded;
      moved.offset = offset;
      const bool inside = offset <= 16 && bytes <= 16 && offset + bytes <= 16;
      EXPECT_EQ(guards.check(moved, Rights::read, bytes), inside ? ok : out_of_bounds)
          << offset << ' ' << bytes;
    }
  }
}

TEST(Guards, KnowEveryBitOfTheirOwnMaking) {
  Guards guards(3);
  Guards others(3);
  static_cast<void>(others.make(memory.data(), 8, Rights::read));
  const Bits guarded = guards.make(memory.data(), sizeof memory, Rights::read);
  EXPECT_EQ(others.check(guarded, Rights::read, 1), forged) << "each node has a key of its own";
  EXPECT_EQ(Guards(3).check(guarded, Rights::read, 1), forged) << "also one that has made none";
  for (std::uint64_t Bits::*const word : {&Bits::base, &Bits::bytes, &Bits::name, &Bits::mac}) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      Bits changed = guarded;
      changed.*word ^= std::uint64_t{1} << bit;
      EXPECT_EQ(guards.check(changed, Rights::read, 1), forged) << bit;
      EXPECT_EQ(guards.revoke(changed), forged) << bit;
    }
  }
  EXPECT_EQ(guards.check(guarded, Rights::read, 1), ok) << "and nothing was revoked";
  EXPECT_EQ(guards.check({}, Rights::read, 0), forged) << "null";
}

TEST(Guards, EndWithTheirSlotsAndGenerations) {
  Guards guards(0, {.guards = 2, .generations = 3});
  std::vector<Bits> made;
  for (int generation = 0; generation < 3; ++generation) {
    made.push_back(guards.make(memory.data(), 8, Rights::read));
    made.push_back(guards.make(memory.data(), 8, Rights::read));
    EXPECT_EQ(error_of([&] { static_cast<void>(guards.make(memory.data(), 8, Rights::read)); }),
              "am: guard at node 0: all 2 guards of this node are in use (revoke some)");
    EXPECT_EQ(guards.revoke(made[made.size() - 1]), ok);
    EXPECT_EQ(guards.revoke(made[made.size() - 2]), ok);
  }
  EXPECT_NE(error_of([&] { static_cast<void>(guards.make(memory.data(), 8, Rights::read)); }), "no error")
      << "no generation comes twice";
  std::set<std::uint64_t> macs;
  for (const Bits& guarded : made) {
    EXPECT_EQ(guards.check(guarded, Rights::read, 8), stale);
    macs.insert(guarded.mac);
  }
  EXPECT_EQ(macs.size(), made.size());
}

TEST(Guards, ReachTheLastGenerationThatAPointerHasRoomFor) {
  constexpr std::uint32_t last = (1u << Bits::generation_bits) - 1;
  const std::uint64_t name = Bits::name_of(7, 0xffff, Rights::write, last);
  const Bits guarded{.name = name};
  EXPECT_EQ(guarded.generation(), last);
  EXPECT_EQ(guarded.slot(), 0xffffu);
  EXPECT_EQ(guarded.rights(), Rights::write);
  EXPECT_EQ(guarded.owner(), 7u);
}

TEST(Guards, AreNotMadeOfWhatCannotBe) {
  Guards guards(1);
  EXPECT_EQ(error_of([&] { static_cast<void>(guards.make(nullptr, 8, Rights::read)); }),
            "am: guard at node 1: the pointer is null (give the address of the memory to guard)");
  EXPECT_EQ(
      error_of([&] { static_cast<void>(guards.make(memory.data(), std::size_t{1} << 40, Rights::read)); }),
      "am: guard at node 1: it is 2^40 bytes or more (guard its parts)");
  EXPECT_EQ(error_of([&] {
              static_cast<void>(guards.make(memory.data(), (std::size_t{1} << 40) - 1, Rights::read));
            }),
            "no error");
}

/// In a type in which nothing wraps around.
TEST(GuardedBits, MoveWithinTheSegmentAndItsEnd) {
  __extension__ using Wide = __int128;
  test::Random random(test::seed());
  std::uint64_t inside = 0;
  constexpr std::uint64_t rounds = 100'000;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t bytes = random() >> (24 + random.below(38));
    const Bits from{.bytes = bytes, .offset = random.below(bytes + 1)};
    const auto count = static_cast<std::ptrdiff_t>(random()) >> random.below(64);
    const std::size_t step = 1 + random.below(100);
    const Wide to = Wide{from.offset} + Wide{count} * static_cast<Wide>(step);
    const Bits moved = from.moved(count, step);
    if (to >= 0 && to <= bytes) {
      ++inside;
      ASSERT_EQ(moved.offset, static_cast<std::uint64_t>(to)) << bytes << ' ' << count << ' ' << step;
    } else {
      ASSERT_EQ(moved.offset, Bits::nowhere) << bytes << ' ' << count << ' ' << step;
      ASSERT_EQ(moved.moved(-count, step).offset, Bits::nowhere) << "and does not come back";
    }
  }
  EXPECT_GT(inside, rounds / 100);
  EXPECT_LT(inside, rounds);
}

TEST(GuardedPtr, CountsWhatIsLeft) {
  Guards guards(2);
  const GuardedPtr<std::uint64_t> p(guards.make(memory.data(), sizeof memory, Rights::read_write));
  EXPECT_EQ(p.node(), 2u);
  EXPECT_EQ(p.count(), 16u);
  EXPECT_EQ((p + 15).count(), 1u);
  EXPECT_EQ((p + 16).count(), 0u);
  EXPECT_EQ((p + 16 - 16), p) << "the end is a place that one may come back from";
  EXPECT_EQ((p + 17).count(), 0u);
  EXPECT_NE(p + 17 - 17, p) << "what is behind it is none";
  EXPECT_EQ((p - PTRDIFF_MIN).bits().offset, Bits::nowhere);
  EXPECT_EQ(p.as<std::byte>().count(), sizeof memory);
  EXPECT_EQ((p.as<std::byte>() + 5).as<std::uint32_t>().count(), 30u);
  const GuardedPtr<const std::uint64_t> constant = p;
  EXPECT_EQ(constant.bits(), p.bits());
  EXPECT_TRUE(p);
  EXPECT_FALSE(GuardedPtr<int>());
}

}  // namespace am::core::guards_test
