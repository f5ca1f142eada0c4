// Pieces of puts and gets that the network carries out in the peer's segment (transfers.cpp), over providers of all kinds.
#include <rdma/fi_errno.h>

#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi::moves_test {

using Access = MemoryReach::Access;

class Moves : public Nodes, public testing::WithParamInterface<Way> {
 protected:
  Moves() : Nodes(3, 3, GetParam()) {}

  void SetUp() override {
    Nodes::SetUp();
    if (IsSkipped()) return;
    for (NodeId to = 1; to < 3; ++to) meet(0, to);
    if (!at(0).can_move(Access::fetch, 1)) GTEST_SKIP() << "it has none";
  }
  [[nodiscard]] bool stores() { return at(0).can_move(Access::store, 1); }
  /// Polls until it has begun.
  Status begin(NodeId node, const MemoryReach::Move& move, const std::byte* from) {
    Status status = Status::again;
    EXPECT_TRUE(until([&] { return (status = at(node).begin_move(move, from)) != Status::again; }));
    return status;
  }

  Status fetch(NodeId owner, std::size_t bytes, std::uint64_t ticket = 0) {
    return begin(0, {Access::fetch, owner, 0, bytes, ticket, 0}, nullptr);
  }
  /// As many as find room. How many those were.
  std::size_t begin_all_that_find_room(std::size_t bytes) {
    std::size_t begun = 0;
    while (begun < 1000 && at(0).begin_move({Access::fetch, 1, 0, bytes, begun, 0}, nullptr) == Status::ok)
      ++begun;
    EXPECT_LT(begun, 1000u);
    return begun;
  }
  bool are_done(std::size_t count) {
    return until([&] { return places_[0].done.size() == count; });
  }
  [[nodiscard]] bool is_done(std::uint64_t ticket) const {
    return std::ranges::any_of(places_[0].done, [=](const auto& one) { return one.move.ticket == ticket; });
  }
  /// Node 1, of whom nobody gets anything any more, keeps nobody else waiting.
  void expect_node_1_is_unreachable_alone() {
    EXPECT_EQ(at(0).begin_move({Access::fetch, 1, 0, 8, 0, 0}, nullptr), Status::unreachable);
    EXPECT_TRUE(until([&] { return at(0).drained(); }));
    ASSERT_EQ(fetch(2, 1000, 9999), Status::ok);
    EXPECT_TRUE(until([&] { return is_done(9999); }));
  }

  /// Whether it sleeps for good where nothing happens: where no descriptor tells it of news it looks each millisecond.
  bool rests(NodeId node) {
    for (int tries = 0; tries < 20; ++tries) {
      progress();
      const bool sleeps = at(node).arm({}) && !is_readable(at(node).wake_fd(), 10);
      at(node).disarm();
      if (sleeps) return true;
    }
    return false;
  }

  test::Random random_{test::seed()};
};

TEST_P(Moves, StoreAndFetchJustTheBytes) {
  constexpr std::size_t rounds = 60;
  std::vector<std::vector<std::byte>> expected(3, std::vector<std::byte>(segment_bytes));
  std::size_t begun = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    const NodeId to = 1 + static_cast<NodeId>(random_.below(2));
    const std::size_t bytes = 1 + random_.below(random_.one_in(2) ? 200 : MemoryReach::move_bytes);
    const std::uint64_t offset = random_.below(segment_bytes - bytes + 1);
    const bool store = stores() && random_.one_in(2);
    const MemoryReach::Move move{store ? Access::store : Access::fetch, to, offset, bytes, i, 3 * i};
    std::vector<std::byte> from = test::patterned(bytes, i);
    ASSERT_EQ(begin(0, move, from.data()), Status::ok);
    ++begun;
    if (store) {
      std::ranges::copy(from, expected[to].begin() + static_cast<std::ptrdiff_t>(offset));
      std::ranges::fill(from, std::byte{0xee});  // which may be changed now
    }
    // What overlaps is in no order.
    ASSERT_TRUE(are_done(begun));
    const Places::Done& done = places_[0].done.back();
    EXPECT_EQ(done.move.ticket, i);
    EXPECT_EQ(done.move.at, 3 * i);
    EXPECT_EQ(done.move.peer, to);
    const auto there = segments_[to].subspan(offset, bytes);
    if (store) {
      EXPECT_TRUE(done.fetched.empty());
      ASSERT_TRUE(std::ranges::equal(segments_[to], expected[to])) << "when it is told of";
    } else {
      ASSERT_TRUE(std::ranges::equal(done.fetched, there));
    }
  }
  for (const NodeId node : {1u, 2u}) EXPECT_TRUE(places_[node].done.empty()) << "nothing runs there";
}

TEST_P(Moves, MayBeUnderWayTogether) {
  std::ranges::copy(test::patterned(segment_bytes, 1), segments_[1].begin());
  std::vector<std::byte> got(segment_bytes);
  constexpr std::size_t piece = 7000;
  std::size_t begun = 0;
  for (std::size_t at = 0; at < segment_bytes; at += piece, ++begun) {
    const MemoryReach::Move move{Access::fetch, 1, at, std::min(piece, segment_bytes - at), begun, at};
    ASSERT_EQ(begin(0, move, nullptr), Status::ok);
  }
  ASSERT_TRUE(are_done(begun));
  for (const Places::Done& done : places_[0].done)
    std::ranges::copy(done.fetched, got.begin() + static_cast<std::ptrdiff_t>(done.move.at));
  EXPECT_TRUE(std::ranges::equal(got, segments_[1]));
}

TEST_P(Moves, ThatFindNoRoomAreToldOfIt) {
  const std::size_t begun = begin_all_that_find_room(MemoryReach::move_bytes);
  EXPECT_EQ(at(0).begin_move({Access::fetch, 2, 0, 100, 0, 0}, nullptr), Status::ok) << "others have room";
  ASSERT_TRUE(are_done(begun + 1));
  EXPECT_FALSE(at(0).arm({})) << "there is room since";
  at(0).disarm();
  EXPECT_EQ(at(0).begin_move({Access::fetch, 1, 0, MemoryReach::move_bytes, 0, 0}, nullptr), Status::ok);
  ASSERT_TRUE(are_done(begun + 2));
}

TEST_P(Moves, WakeWhoeverSleepsUntilTheyAreDone) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_EQ(fetch(1, MemoryReach::move_bytes, i), Status::ok);
    sleep_until(
        0, {}, at(0).arm({}), [&] { return places_[0].done.size() > i; }, [&] { at(1).progress(); });
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST_P(Moves, ThatStoreKeepWhoeverLeaves) {
  if (!stores()) GTEST_SKIP() << "it cannot tell when they are there";
  const std::vector<std::byte> bytes = test::patterned(segment_bytes, 1);
  for (std::size_t at = 0; at < segment_bytes; at += MemoryReach::move_bytes)
    ASSERT_EQ(begin(0, {Access::store, 1, at, MemoryReach::move_bytes, 0, 0}, bytes.data() + at), Status::ok);
  ASSERT_TRUE(until([&] { return at(0).drained(); }));
  EXPECT_TRUE(std::ranges::equal(segments_[1], bytes));
}

/// What others do in its memory its descriptor tells of, and a look finds nothing: it is believed all the same.
TEST_P(Moves, LeaveTheDescriptorOfTheOwnerBelieved) {
  if (!rests(1)) GTEST_SKIP() << "it has none that is believed";
  for (std::uint64_t i = 0; i < 400; ++i) {
    ASSERT_EQ(fetch(1, MemoryReach::move_bytes, i), Status::ok);
    ASSERT_TRUE(until([&] {
      static_cast<void>(at(1).arm({}));
      at(1).disarm();
      return places_[0].done.size() > i;
    }));
  }
  EXPECT_TRUE(rests(1));
}

TEST_P(Moves, AreOverWithTheirPeer) {
  if (!way_.fake) GTEST_SKIP() << "which has to fail";
  fabric_->fail_after(test::FakeFabric::Step::access, 1, FI_EIO);
  std::size_t begun = 0;
  const std::string words = loss(0, 1, [&] { begun = begin_all_that_find_room(1000); });
  EXPECT_NE(words.find("no way to node 1"), std::string::npos) << words;
  for (int i = 0; i < 100; ++i) progress();
  EXPECT_LT(places_[0].done.size(), begun) << "one has failed";
  expect_node_1_is_unreachable_alone();
}

TEST_P(Moves, ToAPeerThatCoreHasClosedBeginNoMore) {
  begin_all_that_find_room(MemoryReach::move_bytes);
  at(0).close(1);
  expect_node_1_is_unreachable_alone();
}

/// What others get, and long payloads, go on while an owner does not look.
TEST_P(Moves, OfAnOwnerThatDoesNotLookHoldUpNobody) {
  const auto progress_without_owner = [&] {
    at(0).progress();
    at(2).progress();
  };
  std::size_t begun = 0;
  for (int vain = 0; vain < 100 && begun < 3000; progress_without_owner()) {
    if (at(0).begin_move({Access::fetch, 1, 0, 100, begun, 0}, nullptr) == Status::ok) {
      ++begun;
      vain = 0;
    } else {
      ++vain;
    }
  }
  ASSERT_EQ(at(0).begin_move({Access::fetch, 2, 0, 1000, 9999, 0}, nullptr), Status::ok);
  const std::vector<std::byte> bytes = test::patterned(300'000, 1);
  std::size_t sent = 0;
  ASSERT_EQ(send(2, 0, Priority::high, 7, bytes, &sent), Status::ok);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  Transport::View view;
  while (!is_done(9999) || !view) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << is_done(9999) << static_cast<bool>(view);
    progress_without_owner();
    if (!view) view = at(0).receive(Priority::high);
  }
  at(0).release(view);
  ASSERT_TRUE(are_done(begun + 1));
}

/// (Of which the fakes are hardware.)
TEST_P(Moves, AreAdvisedWhereTheOwnersProcessorTakesNoPart) {
  const bool reads = way_.fake || way_.provider == "shm";
  EXPECT_EQ(at(0).shortest_move(Access::fetch, 1) != SIZE_MAX, reads);
  EXPECT_EQ(at(0).shortest_move(Access::store, 1) != SIZE_MAX, way_.fake && stores());
}

INSTANTIATE_TEST_SUITE_P(, Moves, testing::ValuesIn(all_ways()), name_of);

class BeforeMoves : public Nodes {
 protected:
  BeforeMoves() : Nodes(2, 2, Way{.name = "fake", .fake = test::FakeProvider{}}) {}
};

TEST_F(BeforeMoves, APeerHasToBeKnown) {
  EXPECT_EQ(at(0).shortest_move(Access::fetch, 1), SIZE_MAX);
  ASSERT_EQ(send(0, 1, Priority::low, 1), Status::ok);
  EXPECT_EQ(at(0).shortest_move(Access::fetch, 1), SIZE_MAX);
  ASSERT_EQ(next_word(1, Priority::low), 1u);
  ASSERT_TRUE(until([&] { return at(0).shortest_move(Access::fetch, 1) != SIZE_MAX; }));
  EXPECT_EQ(at(0).shortest_move(Access::fetch, 0), SIZE_MAX) << "itself";
}

}  // namespace am::ofi::moves_test
