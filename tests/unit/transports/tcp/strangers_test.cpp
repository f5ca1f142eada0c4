// Who is not of the job, and who of the job misbehaves, at the door of a node that talks TCP: they are turned away or cut off,
// and counted; the job goes on.
#include <gmock/gmock.h>

#include "host/random_bytes.hpp"
#include "transports/frames/window.hpp"
#include "unit/transports/tcp/nodes.hpp"

namespace am::tcp::tcp_strangers_test {

using Outcome = Socket::Moved::Outcome;
using namespace testing;
using trust::Handshake;

std::vector<std::byte> bytes_of(const Frame& frame) {
  std::vector<std::byte> bytes(longest_frame);
  bytes.resize(write_frame(bytes.data(), frame));
  return bytes;
}

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
      if (moved.outcome == Outcome::some) have += moved.bytes;
      ended_ = moved.outcome == Outcome::ended;
      return have == bytes || ended_;
    });
    all.resize(have);
    return all;
  }
  void write(Socket& socket, std::span<const std::byte> bytes) {
    until([&] {
      const Socket::Moved moved = socket.write(bytes);
      if (moved.outcome == Outcome::some) bytes = bytes.subspan(moved.bytes);
      return bytes.empty() || moved.outcome == Outcome::ended;
    });
  }
  void write(Socket& socket, const Frame& frame) { write(socket, bytes_of(frame)); }
  bool is_closed(Socket& socket) {
    ended_ = false;
    static_cast<void>(read(socket, 1'000'000));
    return ended_;
  }

  /// The connection when it was accepted; else none. Node 2 is expected to know `key`.
  Socket join(const trust::Key& key, const trust::Party& party, NodeId to = 0) {
    Socket socket = connect();
    trust::Nonce nonce;
    host::fill_random(nonce);
    Handshake handshake = Handshake::connecting(crypto_, key, party, to, nonce);
    said_.clear();
    while (handshake.state() != Handshake::State::refused) {
      if (!handshake.to_send().empty()) {
        said_.insert(said_.end(), handshake.to_send().begin(), handshake.to_send().end());
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
    pass(0, 1, Priority::low, 5);
    EXPECT_TRUE(ears_[0].lost_ones.empty() || ears_[0].lost_ones == std::vector<NodeId>{2});
  }

  bool ended_ = false;
  std::vector<std::byte> said_;  // by who joined last
  const trust::Crypto crypto_;
  trust::Key key_{};
  trust::Party party_{2, 3, {}};
};

TEST_F(AtTheDoor, StrangersAreTurnedAwayAndCounted) {
  const std::uint64_t before = at(0).turned_away();
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
  EXPECT_TRUE(until([&] { return at(0).turned_away() == before + 4; })) << at(0).turned_away();
  expect_business_as_usual();
  EXPECT_TRUE(ears_[0].lost_ones.empty());
}

/// A handshake that was overheard, sent again byte by byte.
TEST_F(AtTheDoor, AReplayIsTurnedAway) {
  {
    Socket socket = join(key_, party_);
    ASSERT_TRUE(socket) << "the original is let in";
    write(socket, {.kind = Frame::Kind::farewell});
  }
  const std::uint64_t before = at(0).turned_away();
  Socket socket = connect();
  write(socket, said_);
  EXPECT_TRUE(is_closed(socket));
  EXPECT_TRUE(until([&] { return at(0).turned_away() == before + 1; }));
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
  const Handshake handshake = Handshake::connecting(crypto_, key_, party_, 0, {});
  const std::span<const std::byte> greeting = handshake.to_send();
  std::size_t said = 0;
  std::vector<std::byte> in(1);
  bool closed = false;
  while (!closed && std::chrono::steady_clock::now() < began + std::chrono::seconds(30)) {
    if (said < greeting.size()) said += socket.write(greeting.subspan(said, 1)).bytes;
    const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < next) progress();
    closed = socket.read(std::span(in)).outcome == Outcome::ended;
  }
  EXPECT_TRUE(closed);
  EXPECT_EQ(at(0).turned_away(), 1u);
  expect_business_as_usual();
}

/// What is told to one who reads nothing does not pile up: there is the last, and what the system has taken.
TEST_F(AtTheDoor, OfWordsThatNobodyReadsTheLastIsKept) {
  Socket socket = join(key_, party_);
  ASSERT_TRUE(socket);
  const int bytes = 256 * 1024;
  ASSERT_EQ(setsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
  std::uint64_t words = 0;
  const auto tell = [&] { at(0).publish(2, 7, ++words), at(0).flush(); };
  while (at(0).published()) tell();
  const std::uint64_t all = words + 100'000;
  while (words < all) tell();
  std::uint64_t came = 0;
  for (Frame frame; frame.value != all; ++came)
    ASSERT_EQ(read_frame(read(socket, 32), frame).outcome, Read::Outcome::frame);
  EXPECT_LT(came, all);
}

/// What a node of the job says that cannot be.
struct Nonsense {
  const char* name;
  std::vector<std::byte> bytes;
  std::uint64_t times = 1;
  bool ends = false;  // then
};

std::vector<Nonsense> every_nonsense() {
  const auto text = [](std::uint32_t length, std::size_t bytes = 64) {
    std::vector<std::byte> all(bytes);
    std::memcpy(all.data(), &length, sizeof length);
    return all;
  };
  std::vector<std::byte> garbage = text(64);
  host::fill_random(std::span(garbage).subspan(4));
  const std::vector<std::byte> payload(frame_payload_bytes);
  const Frame longest{.kind = Frame::Kind::message,
                      .head = impl::Header::make(9, 0, 0, impl::flag::payload),
                      .origin = 2,
                      .payload = Payload(payload.data(), payload.size())};
  return {{"ALengthOfFourGigabytes", text(~0u)},
          {"ALengthOfNoFrame", text(0)},
          {"Garbage", garbage},
          {"CreditForWhatWasNotSent", bytes_of({.kind = Frame::Kind::credit, .value = 1})},
          {"MoreThanThereIsCreditFor", bytes_of(longest), window_bytes / longest_frame + 2},
          {"TheEndInTheMiddleOfAFrame", text(64, 10), 1, true}};
}

class Broken : public AtTheDoor, public testing::WithParamInterface<Nonsense> {};

TEST_P(Broken, OnesAreCutOffAndLost) {
  Socket socket = join(key_, party_);
  ASSERT_TRUE(socket);
  const std::string said = loss(0, 2, [&] {
    for (std::uint64_t i = 0; i < GetParam().times; ++i) write(socket, GetParam().bytes);
    if (GetParam().ends) socket.end_writing();
  });
  EXPECT_THAT(said, HasSubstr("node 2"));
  expect_business_as_usual();
}

INSTANTIATE_TEST_SUITE_P(InEveryWay, Broken, testing::ValuesIn(every_nonsense()),
                         [](const testing::TestParamInfo<Nonsense>& way) { return way.param.name; });

// -- who sits between two nodes: what he reads and changes, with TLS and without, and what he learns of the key -------------

constexpr std::string_view secret_text = "what only the two of them are to know, and nobody else in between";

/// Node 1 is reached through it by whoever reads its card.
class Eavesdropper {
 public:
  explicit Eavesdropper(host::NodeCard& card) : real_(Address::parse(card.address).value()) {
    Address own = Address::parse("127.0.0.1:0").value();
    door_ = listen_at(own);
    const std::string text = own.text();
    std::memcpy(card.address, text.c_str(), text.size() + 1);
  }

  /// Passes on what has come, once it has been looked at.
  void work() {
    if (!towards_[0]) {
      Socket came = accept_from(door_);
      if (!came) return;
      towards_[0] = connect_to(real_);
      towards_[1] = std::move(came);
    }
    for (const std::size_t to : {0u, 1u}) {
      std::byte bytes[4096];
      const Socket::Moved in = towards_[1 - to].read(std::span<std::byte>(bytes));
      if (in.outcome == Outcome::ended) towards_[to].end_writing();
      if (in.outcome != Outcome::some) continue;
      heard.append(reinterpret_cast<const char*>(bytes), in.bytes);
      if (flip) bytes[in.bytes / 2] ^= std::byte{1};
      for (std::span<const std::byte> left(bytes, in.bytes); !left.empty();) {
        const Socket::Moved out = towards_[to].write(left);
        if (out.outcome == Outcome::ended) break;
        left = left.subspan(out.bytes);
      }
    }
  }

  std::string heard;
  bool flip = false;

 private:
  const Address real_;
  Socket door_;
  Socket towards_[2];  // node 1, node 0
};

class Overheard : public Nodes, public testing::WithParamInterface<bool> {
 protected:
  Overheard() : Nodes(2, 2, GetParam()) {}

  void say_the_secret(NodeId from) {
    ASSERT_EQ(send(from, 1 - from, Priority::low, 0, std::as_bytes(std::span(secret_text))), Status::ok);
  }
  /// The payload of the next message; empty when there will be none.
  std::string next(NodeId node, Eavesdropper& between) {
    Transport::View view;
    EXPECT_TRUE(until([&] {
      between.work();
      return (view = at(node).receive(Priority::low)) || !ears_[node].lost_ones.empty();
    }));
    if (!view) return {};
    const Payload payload = at(node).payload_of(view).value();
    std::string text(reinterpret_cast<const char*>(payload.data()), payload.size());
    at(node).release(view);
    return text;
  }
};

TEST_P(Overheard, WhoSitsBetweenReadsWhatIsSaidOnlyWithoutTls) {
  Eavesdropper between(memory_->board().card(1));
  for (const NodeId from : {0u, 1u}) {
    say_the_secret(from);
    EXPECT_EQ(next(1 - from, between), secret_text);
  }
  if (GetParam()) {
    EXPECT_THAT(between.heard, Not(HasSubstr(secret_text.substr(0, 8))));
  } else {
    EXPECT_THAT(between.heard, HasSubstr(secret_text));
  }
  const std::byte* const key = memory_->board().job().key;
  EXPECT_THAT(between.heard, Not(HasSubstr(std::string_view(reinterpret_cast<const char*>(key), 8))));
}

/// Without TLS the text is another one, which is why there is TLS.
TEST_P(Overheard, WhatIsChangedOnTheWayIsNoticedOnlyWithTls) {
  Eavesdropper between(memory_->board().card(1));
  say_the_secret(0);
  ASSERT_EQ(next(1, between), secret_text);
  ASSERT_TRUE(until([&] { return between.work(), at(0).drained(); }));
  between.flip = true;
  say_the_secret(0);
  testing::internal::CaptureStderr();
  const std::string came = next(1, between);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(came, secret_text);
  if (GetParam()) {
    EXPECT_EQ(came, "");
    EXPECT_EQ(ears_[1].lost_ones, std::vector<NodeId>{0});
    EXPECT_THAT(said, HasSubstr("TLS: "));
  }
}

INSTANTIATE_TEST_SUITE_P(, Overheard, testing::Bool(), plain_or_with_tls);

}  // namespace am::tcp::tcp_strangers_test
