// Split-C's pointers by themselves: where arithmetic across nodes leads, which places are a node's own, and how elements are dealt
// out, for several numbers of nodes; beside models in plain arithmetic.
#include <gtest/gtest.h>
#include <am/splitc.hpp>

#include <set>

#include "support/random.hpp"

namespace am::splitc::pointers_test {

/// This thread pretends to be a node, with a segment of some bytes.
class Pretended {
 public:
  Pretended(NodeId node, NodeId nodes, std::size_t bytes) : memory_(bytes / sizeof(std::uint64_t)) {
    impl::here = {am::GlobalPtr<std::byte>(node, 0).address().bits,
                  bytes,
                  reinterpret_cast<std::byte*>(memory_.data()),
                  nullptr,
                  node,
                  nodes};
  }
  ~Pretended() { impl::here = {}; }
  Pretended(const Pretended&) = delete;
  Pretended& operator=(const Pretended&) = delete;

  [[nodiscard]] std::byte* base() { return reinterpret_cast<std::byte*>(memory_.data()); }

 private:
  std::vector<std::uint64_t> memory_;
};

template <class T>
spread_ptr<T> element(std::uint64_t k, NodeId nodes, std::uint64_t first) {
  return spread_ptr<T>(am::GlobalPtr<T>(static_cast<NodeId>(k % nodes), first + k / nodes * sizeof(T)));
}

TEST(SpreadPtr, GoesAcrossTheNodesFirst) {
  test::Random random(test::seed());
  for (const NodeId nodes : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 60u}) {
    const Pretended here(0, nodes, 64);
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t from = random.below(5000);
      const std::uint64_t to = random.below(5000);
      const auto n = static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
      const auto a = element<std::int32_t>(from, nodes, 4096);
      const auto b = element<std::int32_t>(to, nodes, 4096);
      ASSERT_EQ(a + n, b) << from << " " << to << " of " << nodes;
      ASSERT_EQ(n + a, b);
      ASSERT_EQ(b - n, a);
      ASSERT_EQ(b - a, n);
      ASSERT_EQ(a < b, from < to);
      ASSERT_EQ(a[n].operator&(), b.global());
    }
    auto p = element<char>(nodes - 1, nodes, 0);
    EXPECT_EQ((p++).proc(), static_cast<int>(nodes) - 1);
    EXPECT_EQ(p.proc(), 0);
    EXPECT_EQ(p.place().offset(), 1u);
    EXPECT_EQ((--p).place().offset(), 0u);
  }
}

TEST(SpreadPtr, WhatLeavesEverySegmentComesNeverBack) {
  const Pretended here(0, 3, 64);
  const auto first = element<std::uint64_t>(1, 3, 0);
  for (const std::ptrdiff_t far :
       {PTRDIFF_MAX, PTRDIFF_MIN, std::ptrdiff_t{1} << 50, -(std::ptrdiff_t{1} << 50), std::ptrdiff_t{-2}}) {
    const auto nowhere = (first + far).place().offset();
    EXPECT_GT(nowhere, std::uint64_t{1} << 41) << far;
    EXPECT_EQ((first + far - far).place().offset(), nowhere) << far;
  }
}

template <class T>
void finds_own_as_the_model(test::Random& random) {
  constexpr std::size_t bytes = 1000;
  constexpr NodeId node = 5;
  Pretended here(node, 8, bytes);
  constexpr std::int64_t count = bytes / sizeof(T);
  constexpr std::int64_t segment = std::int64_t{1} << 39;
  constexpr std::int64_t far = std::int64_t{1} << 61;
  const std::array edges{
      std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, count, count - 1, segment, -segment, far, -far,
      INT64_MAX,       INT64_MIN};
  for (int i = 0; i < 20'000; ++i) {
    const auto owner = static_cast<NodeId>(4 + random.below(3));
    const std::uint64_t offset = random.one_in(10) ? random() >> 22 : random.below(bytes + 20);
    const std::int64_t n = random.one_in(2) ? edges[random.below(edges.size())]
                                            : static_cast<std::int64_t>(random.below(200)) - 100;
    const am::GlobalPtr<T> at = random.one_in(50) ? nullptr : am::GlobalPtr<T>(owner, offset);
    const am::GlobalPtr<T> there = at + n;
    const bool in_segment = there && there.node() == node && there.offset() + sizeof(T) <= bytes;
    T* own = nullptr;
    const bool found = impl::find_own(at, n, own);
    if (found) {
      ASSERT_TRUE(in_segment) << owner << " " << offset << " " << n;
      ASSERT_EQ(reinterpret_cast<std::byte*>(own), here.base() + there.offset());
      ASSERT_TRUE(!impl::is_word<T> || there.offset() % sizeof(T) == 0);
    } else {
      // A word that lies across two, or is reached from outside, goes the long way.
      const bool plain = offset % sizeof(T) == 0 && offset + sizeof(T) <= bytes;
      ASSERT_FALSE(in_segment && (!impl::is_word<T> || plain)) << owner << " " << offset << " " << n;
    }
  }
}

TEST(GlobalPtr, OneCompareFindsExactlyTheNodesOwnPlaces) {
  test::Random random(test::seed());
  finds_own_as_the_model<std::uint8_t>(random);
  finds_own_as_the_model<std::int16_t>(random);
  finds_own_as_the_model<float>(random);
  finds_own_as_the_model<std::uint64_t>(random);
  finds_own_as_the_model<std::array<char, 3>>(random);
  finds_own_as_the_model<std::array<double, 5>>(random);
}

static_assert(sizeof(global_ptr<double>) == 8 && sizeof(spread_ptr<int>) == 8);
// Members of a base class, too.
struct Base {
  char c;
};
struct Part : Base {
  int i[3];
};
static_assert(requires(const global_ptr<Part> p) { p->*&Part::c, p->*&Part::i; });

TEST(Loops, VisitEveryElementOnceOnItsOwner) {
  for (const NodeId nodes : {1u, 2u, 3u, 4u, 7u}) {
    for (const std::size_t n : {0u, 1u, 2u, 6u, 7u, 8u, 29u}) {
      std::set<std::size_t> seen;
      std::set<std::pair<std::size_t, std::size_t>> seen_2d;
      for (NodeId node = 0; node < nodes; ++node) {
        const Pretended here(node, nodes, 64);
        for (const std::size_t k : my_elements(n)) {
          EXPECT_EQ(k % nodes, node);
          EXPECT_TRUE(seen.insert(k).second);
        }
        for (const auto [i, j] : my_elements(n, 3)) {
          EXPECT_EQ((i * 3 + j) % nodes, node);
          EXPECT_TRUE(seen_2d.emplace(i, j).second);
        }
      }
      EXPECT_EQ(seen.size(), n);
      EXPECT_EQ(seen_2d.size(), n * 3);
      EXPECT_TRUE(seen.empty() || *seen.rbegin() == n - 1);
    }
  }
}

}  // namespace am::splitc::pointers_test
