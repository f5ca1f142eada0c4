// Two nodes prove the job's key to each other; everybody else is refused. Both ends are stepped here, and so is whoever sits
// between them. However the bytes are cut, and whatever follows them: tests/fuzz/handshake_fuzz.cpp.
#include "transports/trust/handshake.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace am::trust::handshake_test {

using Refusal = Handshake::Refusal;
using State = Handshake::State;
using Bytes = std::vector<std::byte>;

template <class Array>
Array random_bytes(test::Random& random) {
  Array bytes;
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

Bytes bytes(std::string_view text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

Bytes times(std::size_t n, int byte) { return Bytes(n, static_cast<std::byte>(byte)); }

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::byte byte : digest) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

TEST(Crypto, MakesTheDigestsOfRfc4231) {
  struct Case {
    Bytes key;
    Bytes text;
    const char* digest;
  };
  const Case cases[] = {
      {times(20, 0x0b), bytes("Hi There"),
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {bytes("Jefe"), bytes("what do ya want for nothing?"),
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {times(20, 0xaa), times(50, 0xdd), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {times(131, 0xaa), bytes("Test Using Larger Than Block-Size Key - Hash Key First"),
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
  };
  const Crypto crypto;
  for (const Case& one : cases) {
    const std::optional<Digest> digest = crypto.hmac_sha256(one.key, one.text);
    ASSERT_TRUE(digest);
    EXPECT_EQ(hex(*digest), one.digest);
  }
}

class HandshakeTest : public testing::Test {
 protected:
  Handshake node_2_connects(NodeId to = 5) {
    return Handshake::connecting(crypto_, key_, party(2), to, random_bytes<Nonce>(random_));
  }
  Handshake node_5_is_connected() {
    return Handshake::connected(crypto_, key_, party(5), random_bytes<Nonce>(random_));
  }
  std::pair<Handshake, Handshake> both_ends() { return {node_2_connects(), node_5_is_connected()}; }
  [[nodiscard]] Party party(NodeId self) const { return {.self = self, .nodes = 8, .job = job_}; }

  /// All that `from` has to send.
  static Bytes sent_by(Handshake& from) {
    const std::span<const std::byte> out = from.to_send();
    Bytes bytes(out.size());
    std::copy(out.begin(), out.end(), bytes.begin());
    from.sent(bytes.size());
    return bytes;
  }
  /// Gives as much of it as is wanted.
  static void give(Handshake& to, std::span<const std::byte> bytes) {
    while (!bytes.empty() && to.wanted() != 0) {
      const std::size_t n = std::min(bytes.size(), to.wanted());
      to.take(bytes.first(n));
      bytes = bytes.subspan(n);
    }
  }
  /// What each sends goes to the other, through `between`, until neither has anything to say.
  using Between = std::function<void(Bytes&)>;
  static void talk(Handshake& a, Handshake& b, const Between& between) {
    const auto pass = [&between](Handshake& from, Handshake& to) {
      Bytes bytes = sent_by(from);
      if (bytes.empty()) return false;
      between(bytes);
      give(to, bytes);
      return true;
    };
    while (pass(a, b) || pass(b, a)) {
    }
  }
  static void talk(Handshake& a, Handshake& b) {
    talk(a, b, [](Bytes&) {});
  }

  test::Random random_{test::seed()};
  const Crypto crypto_;
  const Key key_ = random_bytes<Key>(random_);
  const JobName job_ = random_bytes<JobName>(random_);
};

/// What they have in common then is a secret of one connection.
TEST_F(HandshakeTest, ProvesTheKeyInBothDirections) {
  std::vector<Digest> secrets;
  for (int i = 0; i < 2; ++i) {
    auto [a, b] = both_ends();
    EXPECT_EQ(a.peer(), 5u);
    talk(a, b);
    EXPECT_EQ(a.state(), State::proven);
    ASSERT_EQ(b.state(), State::proven);
    EXPECT_EQ(b.peer(), 2u);
    EXPECT_EQ(a.wanted(), 0u);
    EXPECT_EQ(b.wanted(), 0u);
    secrets.push_back(a.secret().value());
    EXPECT_EQ(b.secret(), secrets.back());
  }
  EXPECT_NE(secrets[0], secrets[1]);
}

TEST_F(HandshakeTest, RefusesAnotherKeyAndDoesNotProveItsOwn) {
  const Key other = random_bytes<Key>(random_);
  Handshake a = Handshake::connecting(crypto_, other, party(2), 5, random_bytes<Nonce>(random_));
  Handshake b = node_5_is_connected();
  give(b, sent_by(a));
  give(a, sent_by(b));
  EXPECT_EQ(a.state(), State::refused);
  EXPECT_EQ(a.refusal(), Refusal::key);
  EXPECT_TRUE(a.to_send().empty());
  EXPECT_EQ(b.state(), State::underway);

  give(b, Bytes(Handshake::proof_bytes));
  EXPECT_EQ(b.state(), State::refused);
  EXPECT_EQ(b.refusal(), Refusal::key);
}

/// What the greeting of node 2 to node 5 says is changed, though whoever does it knows the key.
TEST_F(HandshakeTest, RefusesWhoIsNotMeant) {
  const auto refusal = [&](const Party& from, NodeId to) {
    Handshake a = Handshake::connecting(crypto_, key_, from, to, random_bytes<Nonce>(random_));
    Handshake b = node_5_is_connected();
    give(b, sent_by(a));
    EXPECT_EQ(b.state(), State::refused);
    EXPECT_TRUE(b.to_send().empty());
    return b.refusal();
  };
  EXPECT_EQ(refusal({.self = 2, .nodes = 8, .job = random_bytes<JobName>(random_)}, 5), Refusal::job);
  EXPECT_EQ(refusal(party(2), 4), Refusal::not_for_us);
  EXPECT_EQ(refusal(party(5), 5), Refusal::impossible);
  EXPECT_EQ(refusal(party(8), 5), Refusal::impossible);
  EXPECT_EQ(refusal(party(0xffffffff), 5), Refusal::impossible);
}

TEST_F(HandshakeTest, RefusesANodeThatWasNotLookedFor) {
  Handshake a = node_2_connects(5);
  Handshake b = Handshake::connected(crypto_, key_, party(6), random_bytes<Nonce>(random_));
  talk(a, b, [first = true](Bytes& bytes) mutable {
    if (std::exchange(first, false)) bytes[20] = std::byte{6};  // as if node 2 had asked for node 6
  });
  EXPECT_EQ(a.state(), State::refused);
  EXPECT_EQ(a.refusal(), Refusal::another);
  EXPECT_NE(b.state(), State::proven);
}

/// Whatever else it would say, and however long that is: 16 bytes tell.
TEST_F(HandshakeTest, RefusesAnotherLanguageAtOnce) {
  for (const std::size_t at : {0, 7, 8, 11, 12, 15}) {
    Handshake a = node_2_connects();
    Bytes greeting = sent_by(a);
    greeting[at] ^= std::byte{1};
    for (const bool connecting : {true, false}) {
      Handshake b = connecting ? node_2_connects() : node_5_is_connected();
      b.take(std::span(greeting).first(at));
      EXPECT_EQ(b.state(), State::underway);
      b.take(std::span(greeting).subspan(at, 1));
      EXPECT_EQ(b.state(), State::refused);
      EXPECT_EQ(b.refusal(), at < 8 ? Refusal::language : at < 12 ? Refusal::version : Refusal::protection);
    }
  }
}

/// Also who connected, and heard nothing else.
TEST_F(HandshakeTest, BothEndsLearnThatTheyDifferInVersionOrProtection) {
  const auto expect_refusals = [&](bool tls_of_a, bool tls_of_b, const Between& between, Refusal why) {
    Party of_a = party(2), of_b = party(5);
    of_a.tls = tls_of_a;
    of_b.tls = tls_of_b;
    Handshake a = Handshake::connecting(crypto_, key_, of_a, 5, random_bytes<Nonce>(random_));
    Handshake b = Handshake::connected(crypto_, key_, of_b, random_bytes<Nonce>(random_));
    talk(a, b, between);
    EXPECT_EQ(a.refusal(), why);
    EXPECT_EQ(b.refusal(), why);
  };
  expect_refusals(
      true, false, [](Bytes&) {}, Refusal::protection);
  expect_refusals(
      false, true, [](Bytes&) {}, Refusal::protection);
  expect_refusals(
      false, false, [](Bytes& bytes) { bytes[8] ^= std::byte{1}; }, Refusal::version);
}

/// Every bit of all that travels.
TEST_F(HandshakeTest, NothingMayChangeOnTheWay) {
  constexpr std::size_t all = 2 * Handshake::greeting_bytes + 2 * Handshake::proof_bytes;
  for (std::size_t bit = 0; bit < 8 * all; ++bit) {
    auto [a, b] = both_ends();
    std::size_t passed = 0;
    talk(a, b, [&](Bytes& bytes) {
      if (bit / 8 >= passed && bit / 8 < passed + bytes.size())
        bytes[bit / 8 - passed] ^= static_cast<std::byte>(1 << bit % 8);
      passed += bytes.size();
    });
    EXPECT_NE(b.state(), State::proven) << "bit " << bit;
    if (bit / 8 < all - Handshake::proof_bytes) {  // of the last proof only its receiver learns
      EXPECT_NE(a.state(), State::proven) << "bit " << bit;
    }
  }
}

TEST_F(HandshakeTest, WhatWasOverheardProvesNothingAgain) {
  std::vector<Bytes> overheard;
  auto [a, b] = both_ends();
  talk(a, b, [&](Bytes& bytes) { overheard.push_back(bytes); });
  ASSERT_EQ(overheard.size(), 3u);

  Handshake connected = node_5_is_connected();
  give(connected, overheard[0]);
  give(connected, overheard[2]);
  EXPECT_EQ(connected.state(), State::refused);

  Handshake connecting = node_2_connects();
  give(connecting, overheard[1]);
  EXPECT_EQ(connecting.state(), State::refused);
}

TEST_F(HandshakeTest, OwnWordsThrownBackProveNothing) {
  Handshake connecting = node_2_connects();
  Bytes own = sent_by(connecting);
  own.resize(Handshake::greeting_bytes + Handshake::proof_bytes);
  give(connecting, own);
  EXPECT_EQ(connecting.state(), State::refused);

  // Who was connected to has proved something; that is no proof of the other.
  auto [a, b] = both_ends();
  give(b, sent_by(a));
  const Bytes answer = sent_by(b);
  give(b, Bytes(answer.begin() + Handshake::greeting_bytes, answer.end()));
  EXPECT_EQ(b.state(), State::refused);
}

/// Two connections at once, to and from the same two nodes: what is said on one is of no use on the other.
TEST_F(HandshakeTest, ProofsOfAnotherConnectionProveNothing) {
  auto [a1, b1] = both_ends();
  auto [a2, b2] = both_ends();
  give(b1, sent_by(a1));
  give(b2, sent_by(a2));
  give(a1, sent_by(b1));
  give(a2, sent_by(b2));
  const Bytes proof1 = sent_by(a1);
  const Bytes proof2 = sent_by(a2);
  give(b1, proof2);
  give(b2, proof1);
  EXPECT_EQ(b1.state(), State::refused);
  EXPECT_EQ(b2.state(), State::refused);
}

}  // namespace am::trust::handshake_test
