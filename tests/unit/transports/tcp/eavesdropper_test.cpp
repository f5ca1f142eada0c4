// Somebody sits between two nodes: what he reads and changes, with TLS and without, and what he learns of the key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "unit/transports/tcp/nodes.hpp"

namespace am::tcp {
namespace eavesdropper_test {

using Outcome = Socket::Moved::Outcome;
using testing::HasSubstr;
using testing::Not;

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

class OneEndOnly : public Overheard {};

/// Each learns why, whoever of them connects.
TEST_P(OneEndOnly, WantsTls) {
  open(1, !GetParam());
  EXPECT_THAT(loss(0, 1, [&] { say_the_secret(0); }), HasSubstr("AM_TCP_TLS is on at one end only"));
  EXPECT_EQ(at(1).turned_away(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, OneEndOnly, testing::Bool(), [](const testing::TestParamInfo<bool>& first) {
  return first.param ? "who_connects" : "who_is_connected_to";
});

}  // namespace eavesdropper_test
}  // namespace am::tcp
