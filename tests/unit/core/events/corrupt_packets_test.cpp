// Packets that no sender of this library sends: none of them leads the receiver astray, each ends it with a message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "core/node/engine.hpp"
#include "support/job.hpp"

namespace am::core {
namespace corrupt_packets_test {

struct State {
  NodeId from = 0;
  int came = 0;
};

void comes(Request& request, std::uint64_t /*word*/) {
  request.state<State>().from = request.from();
  ++request.state<State>().came;
}
void payload_comes(Request& request, Payload /*payload*/) { ++request.state<State>().came; }

using Spoil = std::function<impl::Header(impl::Packet&)>;

/// A node sends itself a packet with `bytes` of payload as `spoil` leaves it, and takes what comes.
void send_to_itself(std::size_t bytes, const Spoil& spoil,
                    const std::function<void(const State&)>& look = {}) {
  test::run_alone([&](Node& node) {
    State state;
    node.attach(state);
    Transport& network = node.engine().network();
    Transport::Slot slot = network.claim(0, Priority::low, 0, bytes);
    test::check(slot.status == Status::ok, "claim");
    slot.packet->payload_bytes = static_cast<std::uint32_t>(bytes);
    slot.packet->origin = 0;
    slot.packet->words[0] = 0;
    slot.mark = 0;  // the header is what the test says
    network.commit(slot, spoil(*slot.packet));
    node.poll();
    if (look) look(state);
  });
}

impl::Header header(std::size_t words, std::size_t place, std::uint16_t flags) {
  return impl::Header::make(impl::Handler<payload_comes>::id(), words, place, flags);
}

/// Who sent a message is known by the ring that it came in.
TEST(SpoiltOrigin, IsNotWhatAHandlerSees) {
  send_to_itself(
      0,
      [](impl::Packet& packet) {
        packet.origin = 4'294'967'280;
        return impl::Header::make(impl::Handler<comes>::id(), 1, 0, 0);
      },
      [](const State& state) {
        EXPECT_EQ(state.came, 1);
        EXPECT_EQ(state.from, 0u);
      });
}

class CorruptPacketDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  static void dies(std::size_t bytes, const Spoil& spoil, const std::string& why) {
    EXPECT_DEATH(send_to_itself(bytes, spoil), "node 0: a packet from node 0 is corrupt: .*" + why);
  }
};

TEST_F(CorruptPacketDeathTest, AFlagThatNobodyKnows) {
  dies(
      0, [](impl::Packet&) { return header(0, 0, 1u << 9); }, "flags that nobody knows");
}

TEST_F(CorruptPacketDeathTest, LinesBeyondTheRing) {
  dies(
      0, [](impl::Packet&) { return header(0, 0xfff0, 0); }, "beyond its ring");
  dies(
      0, [](impl::Packet&) { return header(0, 0xffff, impl::flag::pad); }, "beyond its ring");
}

TEST_F(CorruptPacketDeathTest, MoreWordsThanThereIsRoomFor) {
  dies(
      0, [](impl::Packet&) { return header(7, 0, 0); }, "lengths contradict");
}

TEST_F(CorruptPacketDeathTest, MorePayloadThanItHasLines) {
  dies(
      64,
      [](impl::Packet& packet) {
        packet.payload_bytes = 65;
        return header(0, 1, impl::flag::payload);
      },
      "cannot lie where it says");
  dies(
      64,
      [](impl::Packet& packet) {
        packet.payload_bytes = 0xffff'ffff;
        return header(0, 1, impl::flag::payload);
      },
      "cannot lie where it says");
  dies(
      128, [](impl::Packet&) { return header(0, 1, impl::flag::payload); }, "cannot lie where it says");
}

TEST_F(CorruptPacketDeathTest, MorePayloadThanThereIsRoomBesideItsWords) {
  for (const std::size_t words : {0, 1, 6, 15}) {
    dies(
        0,
        [words](impl::Packet& packet) {
          packet.payload_bytes =
              static_cast<std::uint32_t>(49 - 16 * ((std::min<std::size_t>(words, 6) + 1) / 2));
          return header(words, 0, impl::flag::payload);
        },
        "cannot lie where it says");
  }
}

TEST_F(CorruptPacketDeathTest, LinesThatAreNoPayload) {
  dies(
      64, [](impl::Packet&) { return header(0, 1, 0); }, "lengths contradict");
}

TEST_F(CorruptPacketDeathTest, AChunkThatItsSenderDoesNotHave) {
  struct {
    std::size_t name;
    std::uint32_t bytes;
  } const chunks[] = {
      {0, 8},      {shm::Chunks::units + 1, 0}, {shm::Chunks::units, shm::Chunks::unit_bytes + 1},
      {0xffff, 1}, {1, shm::chunk_bytes + 1},   {1, 0xffff'ffff}};
  for (const auto& chunk : chunks) {
    dies(
        0,
        [&chunk](impl::Packet& packet) {
          packet.payload_bytes = chunk.bytes;
          return header(0, chunk.name, impl::flag::payload | impl::flag::elsewhere);
        },
        "cannot lie where it says");
  }
}

TEST_F(CorruptPacketDeathTest, AChunkThatIsNoPayload) {
  dies(
      0, [](impl::Packet&) { return header(0, 1, impl::flag::elsewhere); }, "lengths contradict");
}

TEST_F(CorruptPacketDeathTest, AMulticastOfANodeThatThereIsNot) {
  dies(
      64,
      [](impl::Packet& packet) {
        packet.origin = 4'294'967'280;
        return header(0, 1, impl::flag::payload | impl::flag::multicast);
      },
      "a node that there is not");
}

TEST_F(CorruptPacketDeathTest, AMulticastWithAListLongerThanItself) {
  dies(
      64,
      [](impl::Packet& packet) {
        const std::uint32_t members = 16;  // and their number makes 17 words of 4 bytes
        std::memcpy(packet.payload(0, 1) + 60, &members, sizeof members);
        return header(0, 1, impl::flag::payload | impl::flag::multicast);
      },
      "without its list");
}

TEST_F(CorruptPacketDeathTest, TheLastPieceOfNothing) {
  dies(
      64, [](impl::Packet&) { return header(0, 1, impl::flag::payload | impl::flag::last); },
      "do not fit together");
}

TEST_F(CorruptPacketDeathTest, APieceLongerThanTheWhole) {
  dies(
      64,
      [](impl::Packet& packet) {
        packet.words[0] = 63;  // bytes in all
        return header(1, 1, impl::flag::payload | impl::flag::more);
      },
      "do not fit together");
}

}  // namespace corrupt_packets_test
}  // namespace am::core
