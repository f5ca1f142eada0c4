// Packets that no sender of this library sends: none of them leads the receiver astray, each ends it with a message.

#include "support/job.hpp"

namespace am::core::corrupt_packets_test {

struct State {
  NodeId from = 0;
  int came = 0;
};

void comes(Request& request, std::uint64_t /*word*/) {
  request.state<State>().from = request.from();
  ++request.state<State>().came;
}
void payload_comes(Request& request, Payload /*payload*/) { ++request.state<State>().came; }
void reply_comes(Reply& /*reply*/) {}

/// What a packet says of itself. Its payload has room for `bytes`.
struct Corrupt {
  std::size_t bytes = 0, words = 0, place = 0;  // where its payload lies
  std::uint16_t flags = 0;
  const char* why = "";                             // it is refused
  std::optional<std::uint32_t> payload_bytes = {};  // instead of `bytes`
  NodeId origin = 0;
  std::uint64_t first_word = 0;
};

/// Node 0 sends itself this packet, and takes what comes. Handlers have their numbers when a job has started.
template <auto handler>
State send_to_itself(const Corrupt& corrupt, NodeId nodes = 1) {
  State state;
  test::run_job({test::Nodes::threads}, nodes, [&](Node& node) {
    if (node.id() != 0) return;
    node.attach(state);
    Transport& network = node.engine().network();
    Transport::Slot slot = network.claim(0, Priority::low, 0, corrupt.bytes);
    test::check(slot.status == Status::ok, "claim");
    slot.packet->payload_bytes = corrupt.payload_bytes.value_or(static_cast<std::uint32_t>(corrupt.bytes));
    slot.packet->origin = corrupt.origin;
    slot.packet->words[0] = corrupt.first_word;
    const std::uint32_t members = 16;  // and their number makes 17 words of 4 bytes
    if (corrupt.bytes == 64) std::memcpy(slot.packet->payload(0, 1) + 60, &members, sizeof members);
    slot.mark = 0;  // the header is what the test says
    network.commit(
        slot, impl::Header::make(impl::Handler<handler>::id(), corrupt.words, corrupt.place, corrupt.flags));
    node.poll();
  });
  return state;
}

constexpr NodeId nobody = 4'294'967'280;

/// Who sent a message is known by the ring that it came in.
TEST(SpoiltOrigin, IsNotWhatAHandlerSees) {
  const State state = send_to_itself<comes>({.words = 1, .origin = nobody});
  EXPECT_EQ(state.came, 1);
  EXPECT_EQ(state.from, 0u);
}

void expect_death(std::initializer_list<Corrupt> packets) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  int row = 0;
  for (const Corrupt& packet : packets) {
    SCOPED_TRACE("row " + std::to_string(row++));
    EXPECT_DEATH(send_to_itself<payload_comes>(packet),
                 std::string("node 0: a packet from node 0 is corrupt: .*") + packet.why);
  }
}

using impl::flag::elsewhere, impl::flag::last, impl::flag::more, impl::flag::multicast, impl::flag::pad,
    impl::flag::payload;

TEST(CorruptPacketDeathTest, LengthsThatContradictTheHeader) {
  expect_death({{0, 0, 0, 1u << 9, "unknown flags"},
                {0, 0, 0xfff0, 0, "beyond its ring"},
                {0, 0, 0xffff, pad, "beyond its ring"},
                {0, 7, 0, 0, "lengths contradict"},
                {64, 0, 1, 0, "lengths contradict"},
                {0, 0, 1, elsewhere, "lengths contradict"}});
}

TEST(CorruptPacketDeathTest, PayloadThatCannotLieWhereItSays) {
  const char* const why = "cannot lie where it says";
  expect_death({{64, 0, 1, payload, why, 65},
                {64, 0, 1, payload, why, 0xffff'ffff},
                {128, 0, 1, payload, why},
                // Beside its words, of which each two take 16 of 48 bytes.
                {0, 0, 0, payload, why, 49},
                {0, 1, 0, payload, why, 33},
                {0, 6, 0, payload, why, 1},
                {0, 15, 0, payload, why, 1}});
}

TEST(CorruptPacketDeathTest, AChunkThatItsSenderDoesNotHave) {
  constexpr std::uint16_t flags = payload | elsewhere;
  const char* const why = "cannot lie where it says";
  expect_death({{0, 0, 0, flags, why, 8},
                {0, 0, Chunks::units + 1, flags, why, 0},
                {0, 0, Chunks::units, flags, why, Chunks::unit_bytes + 1},
                {0, 0, 0xffff, flags, why, 1},
                {0, 0, 1, flags, why, chunk_bytes + 1},
                {0, 0, 1, flags, why, 0xffff'ffff}});
}

TEST(CorruptPacketDeathTest, AMulticastAtTheOtherPriorityIsNotTheFaultOfWhomItNames) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(send_to_itself<reply_comes>({.flags = multicast, .origin = 1}, 2),
               "a message from node 0 names handler");
}

TEST(CorruptPacketDeathTest, MulticastsAndPiecesThatDoNotFitTogether) {
  expect_death({{64, 0, 1, payload | multicast, "a sender that the job does not have", 64, nobody},
                {0, 1, 0, multicast, "a sender that the job does not have", 0, nobody},
                {64, 0, 1, payload | multicast, "without its list"},
                {64, 0, 1, payload | last, "do not fit together"},
                {64, 1, 1, payload | more, "do not fit together", 64, 0, 63}});  // of 63 bytes in all
}

}  // namespace am::core::corrupt_packets_test
