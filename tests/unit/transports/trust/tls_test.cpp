// TLS between two nodes, both ends of it here, and whoever sits between them: what is said arrives, nobody else can read it, and
// what is changed, left out or said by others ends it.
#include "transports/trust/tls.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "support/random.hpp"

namespace am::trust::tls_test {

using namespace testing;
using Bytes = std::vector<std::byte>;
using State = Tls::State;

Bytes bytes_of(std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}
std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Both ends, of which `a` connects.
struct Ends {
  explicit Ends(const Digest& secret) : Ends(secret, secret) {}
  Ends(const Digest& of_a, const Digest& of_b)
      : a(Tls::Role::connecting, of_a), b(Tls::Role::connected, of_b) {}
  Tls a;
  Tls b;
};

class TlsTest : public testing::Test {
 protected:
  Digest secret() {
    Digest made;
    std::ranges::generate(made, [&] { return static_cast<std::byte>(random_()); });
    return made;
  }

  /// What `from` has to send goes to the other, through `between`. False when there was nothing.
  using Between = std::function<void(Bytes&)>;
  bool pass(Tls& from, Tls& to, const Between& between = {}) {
    const std::span<const std::byte> out = from.to_send();
    Bytes bytes(out.size());
    std::ranges::copy(out, bytes.begin());
    if (bytes.empty()) return false;
    from.sent(bytes.size());
    if (between) between(bytes);
    overheard_ += text_of(bytes);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t n = std::min<std::size_t>(bytes.size() - at, 1 + random_.below(40'000));
      to.take(std::span(bytes).subspan(at, n));
      at += n;
    }
    return true;
  }
  void shake_hands(Ends& ends, const Between& between = {}) {
    while (pass(ends.a, ends.b, between) || pass(ends.b, ends.a, between)) {
    }
  }
  /// Of a connection that is open.
  std::unique_ptr<Ends> connection() {
    auto made = std::make_unique<Ends>(secret_);
    shake_hands(*made);
    EXPECT_EQ(made->a.state(), State::open) << made->a.why();
    EXPECT_EQ(made->b.state(), State::open) << made->b.why();
    return made;
  }
  void flip_a_bit(std::span<std::byte> bytes) {
    bytes[random_.below(bytes.size())] ^= static_cast<std::byte>(1 << random_.below(8));
  }
  static Bytes read(Tls& from, std::size_t at_a_time = 1000) {
    Bytes all;
    for (Bytes some(at_a_time);;) {
      const std::size_t n = from.read(some);
      if (n == 0) return all;
      all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
    }
  }

  test::Random random_{test::seed()};
  const Digest secret_ = secret();
  std::string overheard_;
};

TEST_F(TlsTest, WhatIsSaidArrivesInBothDirections) {
  const auto ends = connection();
  auto& [a, b] = *ends;
  for (int round = 0; round < 3; ++round) {
    a.write(bytes_of("from a, "));
    a.write(bytes_of("and more"));
    b.write(bytes_of("from b"));
    pass(a, b);
    pass(b, a);
    EXPECT_EQ(text_of(read(b, 3)), "from a, and more");
    EXPECT_EQ(text_of(read(a)), "from b");
  }
  EXPECT_THAT(overheard_, Not(HasSubstr("from a"))) << "nobody else reads it";
  EXPECT_THAT(overheard_, Not(HasSubstr(std::string_view(reinterpret_cast<const char*>(secret_.data()), 8))));
}

TEST_F(TlsTest, AnotherSecretOpensNothing) {
  Ends ends(secret_, secret());
  shake_hands(ends);
  for (const Tls* const end : {&ends.a, &ends.b}) {
    EXPECT_EQ(end->state(), State::broken);
    EXPECT_FALSE(end->why().empty());
  }
}

/// One bit, anywhere in what is said while hands are shaken, but for the versions in front of records and a word for old
/// middleboxes, which mean nothing (RFC 8446, sections 5.1 and D.4): it opens at neither end, or at the one that has heard all it
/// needs.
TEST_F(TlsTest, NothingMayChangeWhileHandsAreShaken) {
  int opened = 0;
  constexpr int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    Ends ends(secret_);
    auto& [a, b] = ends;
    int flight = static_cast<int>(random_.below(3));
    const bool last = flight == 2;
    shake_hands(ends, [&](Bytes& bytes) {
      if (flight-- == 0) flip_a_bit(bytes);
    });
    if (b.state() == State::open) {
      ++opened;
      b.write(bytes_of("all is well"));
      pass(b, a);
      EXPECT_EQ(text_of(read(a)), "all is well");
    } else if (!last) {
      EXPECT_NE(a.state(), State::open) << round;
    }
  }
  EXPECT_LT(opened, rounds / 10);
}

/// What comes before the change may be read; nothing from there on.
TEST_F(TlsTest, AChangedBitEndsIt) {
  for (int round = 0; round < 100; ++round) {
    const auto ends = connection();
    auto& [a, b] = *ends;
    a.write(bytes_of("first"));
    pass(a, b);
    a.write(bytes_of("second"));
    pass(a, b, [&](Bytes& bytes) {
      flip_a_bit(std::span(bytes).subspan(5));  // of a record's length that grew the rest would be waited for
    });
    EXPECT_EQ(text_of(read(b)), "first");
    EXPECT_EQ(b.state(), State::broken);
    a.write(bytes_of("third"));
    pass(a, b);
    EXPECT_TRUE(read(b).empty());
  }
}

TEST_F(TlsTest, WhatIsLeftOutSaidTwiceOrInAnotherOrderEndsIt) {
  for (const std::string_view order : {"1", "00", "10"}) {
    const auto ends = connection();
    auto& [a, b] = *ends;
    std::vector<Bytes> said;
    for (const std::string_view text : {"first", "later"}) {
      a.write(bytes_of(text));
      said.emplace_back(a.to_send().begin(), a.to_send().end());
      a.sent(said.back().size());
    }
    for (const char which : order) b.take(said[static_cast<std::size_t>(which - '0')]);
    EXPECT_THAT(text_of(read(b)), Not(HasSubstr("later"))) << order;
    EXPECT_EQ(b.state(), State::broken) << order;
  }
}

TEST_F(TlsTest, AlertsEndIt) {
  const auto ends = connection();
  auto& [a, b] = *ends;
  a.take(Bytes(100));  // no record
  EXPECT_TRUE(read(a).empty());
  EXPECT_EQ(a.state(), State::broken);
  EXPECT_TRUE(pass(a, b));  // that is said
  EXPECT_TRUE(read(b).empty());
  EXPECT_EQ(b.state(), State::broken);
  EXPECT_THAT(b.why(), HasSubstr("alert"));
}

/// Keys wear out: there are new ones in time, and nobody notices.
TEST_F(TlsTest, GoesOnWithNewKeys) {
  const auto ends = connection();
  auto& [a, b] = *ends;
  const Bytes one(1, std::byte{7});
  std::uint64_t came = 0;
  for (std::uint64_t i = 0; i < Tls::pieces_per_key + 10; ++i) {
    a.write(one);
    if (i % 1024 != 0 && i + 1 != Tls::pieces_per_key + 10) continue;
    pass(a, b);
    came += read(b, 4096).size();
    overheard_.clear();
  }
  EXPECT_EQ(came, Tls::pieces_per_key + 10);
  b.write(one);
  pass(b, a);
  EXPECT_EQ(read(a), one);
}

}  // namespace am::trust::tls_test
