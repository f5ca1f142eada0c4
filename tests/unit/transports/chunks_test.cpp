// The memory for long payloads by hand: what is taken never overlaps, comes back when its ring is released and not before, and
// no link takes what another one needs to go on.
#include "transports/chunks.hpp"

#include <gtest/gtest.h>
#include <am/impl/copy.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "support/random.hpp"
#include "transports/shm/rings.hpp"

namespace am::shm::chunks_test {

constexpr NodeId self = 1;
constexpr NodeId nodes = 5;

class ChunkMemory : public testing::Test {
 protected:
  /// The receiver says that it has released so many lines of the ring.
  void release(NodeId to, std::uint64_t lines) {
    rings_.pair(to, self).control[0].released.store(lines, std::memory_order_release);
  }
  /// One that goes to node 2, and is released.
  Chunks::Name pass(std::size_t bytes) {
    const Chunks::Name chunk = chunks_.take(2, bytes);
    chunks_.sent(chunk, ++positions_[2]);
    release(2, positions_[2]);
    return chunk;
  }
  void make_round_long() {
    for (int i = 0; i < 400; ++i) pass(100'000);
  }
  /// Takes all that `to` may have, in chunks of so many bytes, and sends it.
  std::size_t fill(NodeId to, std::size_t bytes) {
    std::size_t count = 0;
    while (const Chunks::Name chunk = chunks_.take(to, bytes)) {
      chunks_.sent(chunk, ++positions_[to]);
      ++count;
    }
    return count;
  }
  std::map<NodeId, std::uint64_t> positions_;  // of the rings

  const std::shared_ptr<host::Memory> memory_ = host::Memory::create(nodes);
  const Rings rings_{memory_};
  Chunks chunks_{rings_, self, Priority::low};
};

/// Whoever copies a payload between there and long memory of malloc's, which begins 16 bytes behind the beginning of a page.
TEST_F(ChunkMemory, IsNoPlaceFromWhichToCopyTakesLong) {
  alignas(4096) static std::byte page[4096];
  for (const std::size_t bytes : {5000u, 2048u, 100'000u}) {
    const std::byte* const chunk = chunks_.at(chunks_.take(2, bytes));
    EXPECT_FALSE(impl::is_slow_to_copy(page + 16, chunk, bytes)) << bytes;
    EXPECT_FALSE(impl::is_slow_to_copy(chunk, page + 16, bytes)) << bytes;
  }
}

/// Each look takes away the line in which the receiver counts.
TEST_F(ChunkMemory, IsLookedForSeldomAndUsedAgainWhileItLiesInCaches) {
  std::set<Chunks::Name> used;
  for (std::size_t i = 0; i < Chunks::times_before_growing * Chunks::first_units_before_collecting; ++i)
    used.insert(pass(2000));
  EXPECT_EQ(used.size(), Chunks::first_units_before_collecting) << "few use little";
  for (int i = 0; i < 1000; ++i) used.insert(pass(2000));
  EXPECT_EQ(used.size(), Chunks::units_before_collecting);
  EXPECT_EQ(*used.rbegin(), Chunks::units_before_collecting) << "the first ones";
}

/// New pages cost more than what is written there.
TEST_F(ChunkMemory, OfFewLongOnesIsLittle) {
  constexpr std::size_t bytes = 16 << 10;
  constexpr std::size_t units_of_each = 7;
  Chunks::Name last = 0;
  for (std::size_t i = 0; i < 4 * (Chunks::first_round_units / units_of_each); ++i)
    last = std::max(last, pass(bytes));
  EXPECT_LE(last + units_of_each, Chunks::first_round_units + 1);
  for (std::size_t i = 0; i < 100; ++i) last = std::max(last, pass(bytes));
  EXPECT_LE(last + units_of_each, 8 * Chunks::first_round_units) << "it grows with what is sent";
  EXPECT_GT(last + units_of_each, 2 * Chunks::first_round_units);
}

/// Where the receiver's cache has what it has read, the sender waits for each line.
TEST_F(ChunkMemory, OfManyLongOnesGoesRound) {
  constexpr std::size_t bytes = 100'000;
  make_round_long();
  Chunks::Name first = 0;
  while (first != 1) first = pass(bytes);
  std::size_t round = 0;
  Chunks::Name last = first;
  for (Chunks::Name chunk = 0; chunk != first; last = chunk) {
    chunk = pass(bytes);
    EXPECT_TRUE(chunk > last || chunk == first) << "the next one lies behind it, or it is the first again";
    round += bytes;
  }
  EXPECT_GE(round + bytes, Chunks::round_units * Chunks::unit_bytes - bytes);
  EXPECT_LE(round, Chunks::round_units * Chunks::unit_bytes) << "no more memory than that";
  for (int i = 0; i < 300; ++i) {
    EXPECT_NE(pass(bytes), 0);
    EXPECT_LE(pass(1), Chunks::units_before_collecting) << "short ones stay among the first";
  }
}

/// The place where it would go on is taken: it is looked for everywhere.
TEST_F(ChunkMemory, OfALongOneIsFoundWhereverItLies) {
  make_round_long();
  const Chunks::Name first = chunks_.take(2, Chunks::largest);
  for (const NodeId to : {2, 3, 4}) {
    while (chunks_.take(to, 1) != 0) {
    }
  }
  chunks_.give_back(first);
  const Chunks::Name half = chunks_.take(2, Chunks::largest / 2);  // it would go on behind it
  ASSERT_EQ(half, first);
  chunks_.give_back(half);
  EXPECT_EQ(chunks_.take(2, Chunks::largest), first) << "from the middle on there is not enough";
}

TEST_F(ChunkMemory, ComesBackWhenItsLineIsReleasedAndNotBefore) {
  const auto next = [this] {  // looks what came back
    return chunks_.has_room(2, 2000) ? chunks_.take(2, 2000) : Chunks::Name{0};
  };
  const Chunks::Name a = next();
  const Chunks::Name b = next();
  chunks_.sent(a, 7);
  chunks_.sent(b, 8);
  release(2, 6);
  EXPECT_NE(next(), a);
  release(2, 7);
  EXPECT_EQ(next(), a);
  EXPECT_TRUE(chunks_.any_sent(2));
  release(2, 8);
  EXPECT_EQ(next(), b);
  EXPECT_FALSE(chunks_.any_sent(2));
}

/// Whoever is idle sees where the next one will lie, and that keeps them few: what came back is used at once.
TEST_F(ChunkMemory, IsForeseen) {
  EXPECT_TRUE(chunks_.foresee(2, 2000).empty()) << "it has no memory yet";
  std::set<Chunks::Name> used;
  for (const std::size_t bytes : {2000u, 4096u, 20'000u}) {
    pass(bytes);
    for (int i = 0; i < 10; ++i) {
      const std::span<const std::byte> next = chunks_.foresee(2, bytes);
      ASSERT_EQ(next.size(), bytes);
      const Chunks::Name chunk = pass(bytes);
      EXPECT_EQ(chunks_.at(chunk), next.data()) << bytes;
      if (bytes < 4096) used.insert(chunk);
    }
  }
  EXPECT_EQ(used.size(), 1u);
}

TEST_F(ChunkMemory, ALinkHasHalfOfItAtMost) {
  EXPECT_EQ(fill(2, Chunks::largest), 2) << "one is read while the next is filled in";
  EXPECT_EQ(fill(2, 1) + 2 * 410, Chunks::most_units_of_a_link);
  EXPECT_FALSE(chunks_.has_room(2, 1));
  EXPECT_TRUE(chunks_.has_room(3, Chunks::largest));
  EXPECT_EQ(fill(3, 1), Chunks::most_units_of_a_link);
  EXPECT_EQ(chunks_.take(4, 1), 0) << "two have taken all of it";
  EXPECT_FALSE(chunks_.any_sent(4)) << "and so it does not wait for any";
  release(3, 1);
  EXPECT_TRUE(chunks_.has_room(4, 1));
  EXPECT_NE(chunks_.take(4, 1), 0) << "looks at all links when there is none";
}

/// What is in use, by a simple account.
class Account {
 public:
  struct Taken {
    Chunks::Name chunk;
    std::size_t units;
  };

  void own(const Taken& taken, bool yes) {
    for (std::size_t u = taken.chunk - 1u; u < taken.chunk - 1u + taken.units; ++u) {
      ASSERT_LT(u, Chunks::units);
      ASSERT_EQ(owned_[u], !yes) << "unit " << u;
      owned_[u] = yes;
    }
  }
  void expect_free(std::size_t first, std::size_t units) const {
    for (std::size_t u = first; u < first + units; ++u) ASSERT_FALSE(owned_[u]) << "unit " << u;
  }
  void sent(NodeId to, const Taken& taken, std::uint64_t position) {
    sent_[to].emplace_back(taken, position);
  }
  /// What was released: it comes back when a chunk is taken.
  void collect(const std::map<NodeId, std::uint64_t>& released) {
    for (auto& [to, all] : sent_) {
      for (; !all.empty() && all.front().second <= released.at(to); all.pop_front())
        own(all.front().first, false);
    }
  }
  void close(NodeId to) {
    for (const auto& [taken, position] : sent_[to]) own(taken, false);
    sent_[to].clear();
  }

 private:
  std::vector<bool> owned_ = std::vector<bool>(Chunks::units);
  std::map<NodeId, std::deque<std::pair<Taken, std::uint64_t>>> sent_;
};

/// Any order of taking, sending, releasing, giving back and closing.
TEST_F(ChunkMemory, NeverOverlapsAndNoneIsLost) {
  test::Random random(test::seed());
  Account account;
  std::map<NodeId, std::uint64_t> released;
  for (NodeId to = 0; to < nodes; ++to) released[to] = 0;
  std::vector<std::pair<NodeId, Account::Taken>> held;
  for (int step = 0; step < 200'000; ++step) {
    const auto to = static_cast<NodeId>(random.below(nodes));
    const std::uint64_t what = random.below(8);
    if (what < 3) {
      const std::size_t bytes = 1 + random.below(random.one_in(10) ? Chunks::largest : 20'000);
      account.collect(released);
      const Chunks::Name chunk = chunks_.take(to, bytes);
      if (chunk == 0) continue;
      held.push_back(
          {to, {chunk, (bytes + Chunks::gap_bytes + Chunks::unit_bytes - 1) / Chunks::unit_bytes}});
      account.own(held.back().second, true);
    } else if (what < 5 && !held.empty()) {
      std::swap(held[random.below(held.size())], held.back());
      const auto [its, taken] = held.back();
      held.pop_back();
      chunks_.sent(taken.chunk, positions_[its] += 1 + random.below(5));
      account.sent(its, taken, positions_[its]);
    } else if (what == 5 && !held.empty()) {
      chunks_.give_back(held.back().second.chunk);
      account.own(held.back().second, false);
      held.pop_back();
    } else if (what == 6) {
      released[to] += random.below(positions_[to] - released[to] + 1);
      release(to, released[to]);
    } else if (what == 7 && random.one_in(50)) {
      account.close(to);
      chunks_.close(to);
    } else if (what == 7) {
      account.collect(released);
      const std::size_t bytes = 1 + random.below(20'000);
      const std::span<const std::byte> next = chunks_.foresee(to, bytes);
      if (next.empty()) continue;
      const auto first = static_cast<std::size_t>(next.data() - chunks_.at(1)) / Chunks::unit_bytes;
      account.expect_free(first, (bytes + Chunks::gap_bytes + Chunks::unit_bytes - 1) / Chunks::unit_bytes);
    }
    if (HasFatalFailure()) FAIL() << "step " << step;
  }
  for (const auto& [node, taken] : held) chunks_.give_back(taken.chunk);
  for (const auto& [node, position] : positions_) release(node, position);
  EXPECT_TRUE(chunks_.has_room(0, Chunks::largest));
  EXPECT_EQ(fill(0, 1), Chunks::most_units_of_a_link);
  EXPECT_EQ(fill(2, 1), Chunks::most_units_of_a_link) << "nothing is lost";
}

}  // namespace am::shm::chunks_test
