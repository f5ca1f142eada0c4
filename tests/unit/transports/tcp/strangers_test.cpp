// Who is not of the job, and who of the job misbehaves, at the door of a node that talks TCP: they are turned away or cut off,
// and counted; the job goes on.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "host/random_bytes.hpp"
#include "support/random.hpp"
#include "transports/frames/window.hpp"
#include "unit/transports/tcp/nodes.hpp"

namespace am::tcp {
namespace tcp_strangers_test {

/// Nodes 0 and 1 are as they should be; node 2 is played by the test.
class AtTheDoor : public Nodes {
 protected:
  AtTheDoor() : Nodes(3, 2) {
    const host::JobHeader& job = memory_->board().job();
    std::ranges::copy(job.key, key_.begin());
    std::ranges::copy(job.name, party_.job.begin());
  }

  /// A connection to node 0, of which nothing is known there yet.
  Socket connect() { return connect_to(Address::parse(memory_->board().card(0).address).value()); }
  /// What comes, until so many bytes have, or the connection ends.
  std::vector<std::byte> read(Socket& socket, std::size_t bytes) {
    std::vector<std::byte> all(bytes);
    std::size_t have = 0;
    until([&] {
      const Socket::Moved moved = socket.read(std::span(all).subspan(have));
      if (moved.outcome == Socket::Moved::Outcome::some) have += moved.bytes;
      ended_ = moved.outcome == Socket::Moved::Outcome::ended;
      return have == bytes || ended_;
    });
    all.resize(have);
    return all;
  }
  void write(Socket& socket, std::span<const std::byte> bytes) {
    until([&] {
      const Socket::Moved moved = socket.write(bytes);
      if (moved.outcome == Socket::Moved::Outcome::some) bytes = bytes.subspan(moved.bytes);
      return bytes.empty() || moved.outcome == Socket::Moved::Outcome::ended;
    });
  }
  void write(Socket& socket, const Frame& frame) {
    std::vector<std::byte> bytes(longest_frame);
    bytes.resize(write_frame(bytes.data(), frame));
    write(socket, bytes);
  }
  bool is_closed(Socket& socket) {
    ended_ = false;
    static_cast<void>(read(socket, 1'000'000));
    return ended_;
  }

  /// As node 2, which is expected to know `key`. The connection when it was accepted; else none.
  Socket join(const trust::Key& key, const trust::Party& party, NodeId to = 0) {
    Socket socket = connect();
    trust::Nonce nonce;
    host::fill_random(nonce);
    trust::Handshake handshake = trust::Handshake::connecting(crypto_, key, party, to, nonce);
    while (handshake.state() != trust::Handshake::State::refused) {
      if (!handshake.to_send().empty()) {
        write(socket, handshake.to_send());
        handshake.sent(handshake.to_send().size());
      } else if (handshake.wanted() != 0) {
        const std::vector<std::byte> bytes = read(socket, handshake.wanted());
        if (ended_) return {};
        handshake.take(bytes);
      } else {
        return read(socket, 16).size() == 16 ? std::move(socket) : Socket{};  // the welcome
      }
    }
    return {};
  }

  /// Nodes 0 and 1 still talk.
  void expect_business_as_usual() {
    const Transport::Slot slot = networks_[0]->claim(1, Priority::low, 1, 0);
    ASSERT_EQ(slot.status, Status::ok);
    slot.packet->origin = 0;
    slot.packet->words[0] = 5;
    networks_[0]->commit(slot, impl::Header::make(9, 1, 0, 0));
    Transport::View view;
    ASSERT_TRUE(until([&] { return static_cast<bool>(view = networks_[1]->receive(Priority::low)); }));
    EXPECT_EQ(view.packet->words[0], 5u);
    networks_[1]->release(view);
    EXPECT_TRUE(ears_[0].lost_ones.empty() || ears_[0].lost_ones == std::vector<NodeId>{2});
  }

  bool ended_ = false;
  const trust::Crypto crypto_;
  trust::Key key_{};
  trust::Party party_{2, 3, {}};
};

TEST_F(AtTheDoor, ANodeOfTheJobIsLetIn) {
  Socket socket = join(key_, party_);
  ASSERT_TRUE(socket);
  Frame frame{.kind = Frame::Kind::message,
              .priority = Priority::high,
              .head = impl::Header::make(9, 1, 0, 0),
              .origin = 2};
  frame.words[0] = 77;
  write(socket, frame);
  Transport::View view;
  ASSERT_TRUE(until([&] { return static_cast<bool>(view = networks_[0]->receive(Priority::high)); }));
  EXPECT_EQ(view.source, 2u);
  EXPECT_EQ(view.packet->words[0], 77u);
  networks_[0]->release(view);
  write(socket, {.kind = Frame::Kind::farewell});
  socket = {};
  expect_business_as_usual();
  EXPECT_TRUE(ears_[0].lost_ones.empty());
}

TEST_F(AtTheDoor, StrangersAreTurnedAwayAndCounted) {
  const std::uint64_t before = networks_[0]->turned_away();
  trust::Key wrong_key = key_;
  wrong_key[31] ^= std::byte{1};
  EXPECT_FALSE(join(wrong_key, party_)) << "another key";
  trust::Party other_job = party_;
  other_job.job[0] ^= std::byte{1};
  EXPECT_FALSE(join(key_, other_job)) << "a node of another job";
  EXPECT_FALSE(join(key_, party_, 1)) << "meant for another node";
  {
    Socket scanner = connect();
    write(scanner,
          std::as_bytes(std::span(
              "GET / HTTP/1.1\r\nHost: somewhere\r\nAccept: everything there is, and more\r\n\r\n")));
    EXPECT_TRUE(is_closed(scanner));
  }
  EXPECT_TRUE(until([&] { return networks_[0]->turned_away() == before + 4; }))
      << networks_[0]->turned_away();
  expect_business_as_usual();
  EXPECT_TRUE(ears_[0].lost_ones.empty());
}

TEST_F(AtTheDoor, GarbageOfAnyLengthIsTurnedAway) {
  test::Random random(test::seed());
  for (int i = 0; i < 100; ++i) {
    Socket socket = connect();
    std::vector<std::byte> bytes(random() % 300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    write(socket, bytes);
    socket.end_writing();
    EXPECT_TRUE(is_closed(socket));
  }
  expect_business_as_usual();
}

/// A handshake that was overheard, sent again byte by byte.
TEST_F(AtTheDoor, AReplayIsTurnedAway) {
  std::vector<std::byte> said;
  {
    Socket socket = connect();
    trust::Nonce nonce;
    host::fill_random(nonce);
    trust::Handshake handshake = trust::Handshake::connecting(crypto_, key_, party_, 0, nonce);
    for (int step = 0; step < 2; ++step) {
      said.insert(said.end(), handshake.to_send().begin(), handshake.to_send().end());
      write(socket, handshake.to_send());
      handshake.sent(handshake.to_send().size());
      if (step == 0) handshake.take(read(socket, handshake.wanted()));
    }
    ASSERT_EQ(read(socket, 16).size(), 16u) << "the original is let in";
    write(socket, {.kind = Frame::Kind::farewell});
  }
  const std::uint64_t before = networks_[0]->turned_away();
  Socket socket = connect();
  write(socket, said);
  EXPECT_TRUE(is_closed(socket));
  EXPECT_TRUE(until([&] { return networks_[0]->turned_away() == before + 1; }));
  expect_business_as_usual();
}

/// More connections than places, all silent: the oldest give way, and whoever belongs to the job is still let in.
TEST_F(AtTheDoor, ManySilentOnesKeepNobodyOut) {
  std::vector<Socket> silent;
  for (std::size_t i = 0; i < 4 * Entrance::most_strangers; ++i) {
    silent.push_back(connect());
    progress();
  }
  Socket socket = join(key_, party_);
  EXPECT_TRUE(socket);
  EXPECT_TRUE(is_closed(silent.front())) << "the oldest";
  expect_business_as_usual();
  write(socket, {.kind = Frame::Kind::farewell});
}

/// The clock that ends what takes too long lets a node sleep meanwhile.
TEST_F(AtTheDoor, ANodeSleepsWhileAStrangerIsSilent) {
  Socket socket = connect();
  const auto began = std::chrono::steady_clock::now();
  until([&] { return std::chrono::steady_clock::now() > began + std::chrono::milliseconds(100); });
  EXPECT_TRUE(until([&] { return at(0).arm({}); }));
  at(0).disarm();
}

/// Who says the right thing, but one byte now and then, has no more time than others.
TEST_F(AtTheDoor, ASlowOneIsTurnedAwayInTime) {
  Socket socket = connect();
  const auto began = std::chrono::steady_clock::now();
  const trust::Handshake handshake = trust::Handshake::connecting(crypto_, key_, party_, 0, {});
  const std::span<const std::byte> greeting = handshake.to_send();
  std::size_t said = 0;
  std::vector<std::byte> in(1);
  bool closed = false;
  while (!closed && std::chrono::steady_clock::now() < began + std::chrono::seconds(30)) {
    if (said < greeting.size()) said += socket.write(greeting.subspan(said, 1)).bytes;
    const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < next) progress();
    closed = socket.read(std::span(in)).outcome == Socket::Moved::Outcome::ended;
  }
  EXPECT_TRUE(closed);
  EXPECT_EQ(networks_[0]->turned_away(), 1u);
  expect_business_as_usual();
}

// -- who belongs to the job, and is broken -----------------------------------------------------------------------------------

class Broken : public AtTheDoor, public testing::WithParamInterface<int> {};

TEST_P(Broken, OnesAreCutOffAndLost) {
  Socket socket = join(key_, party_);
  ASSERT_TRUE(socket);
  testing::internal::CaptureStderr();
  std::vector<std::byte> bytes(64);
  const auto length = [&](std::uint32_t value) { std::memcpy(bytes.data(), &value, sizeof value); };
  switch (GetParam()) {
    case 0:  // a length of 2^32 - 1
      length(~0u);
      break;
    case 1:  // of no frame
      length(0);
      break;
    case 2:  // garbage
      host::fill_random(bytes);
      length(64);
      break;
    case 3:  // credit for what was never sent
      bytes.resize(write_frame(bytes.data(), {.kind = Frame::Kind::credit, .value = 1}));
      break;
    case 4: {  // more than there is credit for
      std::vector<std::byte> payload(frame_payload_bytes);
      const Frame frame{.kind = Frame::Kind::message,
                        .head = impl::Header::make(9, 0, 0, impl::flag::payload),
                        .origin = 2,
                        .payload = Payload(payload.data(), payload.size())};
      bytes.resize(longest_frame);
      bytes.resize(write_frame(bytes.data(), frame));
      for (std::uint64_t sent = 0; sent <= window_bytes; sent += bytes.size()) write(socket, bytes);
      break;
    }
    default:  // ends in the middle of a frame
      length(64);
      bytes.resize(10);
      write(socket, bytes);
      socket.end_writing();
      bytes.clear();
  }
  write(socket, bytes);
  EXPECT_TRUE(until([&] { return !ears_[0].lost_ones.empty(); }));
  EXPECT_EQ(ears_[0].lost_ones, std::vector<NodeId>{2});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("node 2"), std::string::npos);
  EXPECT_EQ(networks_[0]->claim(2, Priority::low, 1, 0).status, Status::unreachable);
  expect_business_as_usual();
}

INSTANTIATE_TEST_SUITE_P(InEveryWay, Broken, testing::Range(0, 6));

}  // namespace tcp_strangers_test
}  // namespace am::tcp
