#include <gtest/gtest.h>
#include <am/global_ptr.hpp>

#include <limits>
#include <set>

namespace am::global_ptr_test {

using impl::GlobalAddress;

constexpr std::uint64_t tebibyte = std::uint64_t{1} << 40;
constexpr std::ptrdiff_t longest = std::numeric_limits<std::ptrdiff_t>::max();
constexpr std::ptrdiff_t most_negative = std::numeric_limits<std::ptrdiff_t>::min();

template <class T>
bool points_nowhere(GlobalPtr<T> p) {
  return p && p.offset() == GlobalAddress::nowhere;
}

TEST(GlobalPtr, IsNullByDefaultAndOnlyThen) {
  EXPECT_FALSE(GlobalPtr<int>());
  EXPECT_FALSE(GlobalPtr<int>(nullptr));
  EXPECT_EQ(GlobalPtr<int>(), nullptr);
  EXPECT_TRUE(GlobalPtr<int>(0, 0)) << "the first byte of node 0 is a place";
  EXPECT_EQ(GlobalPtr<int>().address().bits, 0u) << "so cleared memory holds null pointers";
  EXPECT_FALSE(GlobalPtr<int>() + 5) << "stays null when it is moved";
  EXPECT_FALSE(GlobalPtr<int>() - 5);
  EXPECT_FALSE(GlobalPtr<int>() + longest);
}

TEST(GlobalPtr, KeepsNodeAndOffset) {
  for (const NodeId node : {NodeId{0}, NodeId{1}, NodeId{4095}, GlobalAddress::max_nodes - 1}) {
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{8}, tebibyte - 1, tebibyte}) {
      const GlobalPtr<int> p(node, offset);
      EXPECT_EQ(p.node(), node);
      EXPECT_EQ(p.offset(), offset);
    }
  }
}

TEST(GlobalPtr, OfAnImpossiblePlaceIsNoOthersPlace) {
  EXPECT_EQ(GlobalPtr<int>(GlobalAddress::max_nodes, 0).node(), GlobalAddress::max_nodes);
  EXPECT_EQ(GlobalPtr<int>(~NodeId{0}, 0).node(), GlobalAddress::max_nodes);
  EXPECT_TRUE(points_nowhere(GlobalPtr<int>(3, GlobalAddress::nowhere)));
  EXPECT_TRUE(points_nowhere(GlobalPtr<int>(3, ~std::uint64_t{0})));
  EXPECT_EQ(GlobalPtr<int>(3, ~std::uint64_t{0}).node(), 3u);
}

TEST(GlobalPtr, CountsInValues) {
  const GlobalPtr<std::uint64_t> p(2, 800);
  EXPECT_EQ((p + 3).offset(), 824u);
  EXPECT_EQ((3 + p).offset(), 824u);
  EXPECT_EQ((p - 100).offset(), 0u);
  EXPECT_EQ((p + 3) - p, 3);
  EXPECT_EQ(p - (p + 3), -3);
  GlobalPtr<std::uint64_t> q = p;
  q += 5;
  --q;
  ++q;
  q -= 5;
  EXPECT_EQ(q, p);
  EXPECT_EQ((p + 3).node(), 2u);
}

TEST(GlobalPtr, ThatLeavesEverySegmentNeverComesBack) {
  const GlobalPtr<std::uint64_t> p(2, 800);
  for (const std::ptrdiff_t step :
       {std::ptrdiff_t{-101}, std::ptrdiff_t{1} << 39, longest, longest / 8, longest / 8 + 1, most_negative,
        most_negative / 8, -longest, std::ptrdiff_t{1} << 61}) {
    const GlobalPtr<std::uint64_t> away = p + step;
    EXPECT_TRUE(points_nowhere(away)) << step;
    EXPECT_EQ(away.node(), 2u) << step;
    EXPECT_TRUE(points_nowhere(away - step)) << step;
    EXPECT_TRUE(points_nowhere(p - step) || step == -101) << step;
  }
  EXPECT_EQ((GlobalPtr<char>(1, 0) + static_cast<std::ptrdiff_t>(tebibyte)).offset(), tebibyte)
      << "the end of the longest segment is a place";
}

TEST(GlobalPtr, NamesTheSamePlaceOnAnotherNodeAndAsAnotherType) {
  const GlobalPtr<double> p(1, 64);
  EXPECT_EQ(p.on(7), GlobalPtr<double>(7, 64));
  EXPECT_EQ(p.as<std::byte>(), GlobalPtr<std::byte>(1, 64));
  EXPECT_EQ(GlobalPtr<const double>(p), GlobalPtr<const double>(1, 64));
}

static_assert(std::is_convertible_v<GlobalPtr<int>, GlobalPtr<const int>>);
static_assert(!std::is_convertible_v<GlobalPtr<const int>, GlobalPtr<int>>);
static_assert(!std::is_convertible_v<GlobalPtr<int>, GlobalPtr<long>>);
// One word that travels as it is.
static_assert(sizeof(GlobalPtr<double>) == 8 && std::is_trivially_copyable_v<GlobalPtr<double>>);
static_assert(std::is_nothrow_default_constructible_v<GlobalPtr<double>>);

TEST(GlobalPtr, OrdersByNodeAndThenByOffset) {
  const std::set<GlobalPtr<int>> sorted{{1, 0}, {0, 8}, nullptr, {0, 0}};
  const std::vector<GlobalPtr<int>> expected{nullptr, {0, 0}, {0, 8}, {1, 0}};
  EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end()));
}

}  // namespace am::global_ptr_test
