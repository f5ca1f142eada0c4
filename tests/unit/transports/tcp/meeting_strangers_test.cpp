// Meetings with strangers at the door, and with members that say what nobody should.
#include "unit/transports/tcp/meeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/random_bytes.hpp"
#include "support/random.hpp"

namespace am::tcp {
namespace meeting_strangers_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// -- who is not of the job ----------------------------------------------------------------------------------------------------

TEST_F(Meeting, AWrongKeyIsTurnedAwayAtOnce) {
  open(2);
  welcome();
  MeetingProof wrong = proof();
  wrong.key[31] ^= std::byte{1};
  EXPECT_THAT(come_with(wrong, 1, "hello"),
              AllOf(HasSubstr("node 0 at " + place_.text()), HasSubstr("does not know the job's key"),
                    HasSubstr("the same key file")));
  auto right = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  EXPECT_EQ(right.get(), "yes");
}

TEST_F(Meeting, NodeZeroSaysHowManyCameInVain) {
  open(2);
  welcome(patience(2'500 * ms));
  MeetingProof wrong = proof();
  wrong.key[0] ^= std::byte{1};
  const std::string first = come_with(wrong, 1, "hello");
  const std::string second = come_with(wrong, 1, "hello");
  const bool in_time = first == second;  // on a machine that does not stand still
  EXPECT_THAT(welcomed(),
              in_time ? HasSubstr("; 2 came that do not know the key") : HasSubstr("did not come within"));
}

TEST_F(Meeting, StrangersDisturbNobody) {
  test::Random random(test::seed());
  open(3);
  welcome();
  auto two = coming(2, "two");
  EXPECT_TRUE(has_text_of(2));
  for (int i = 0; i < 60; ++i) {
    Raw scanner(place_.port);
    std::vector<std::byte> garbage(random.below(300));
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    scanner.write(garbage);
    scanner.end_writing();
    EXPECT_TRUE(scanner.is_closed());
  }
  {
    Raw scanner(place_.port);
    scanner.write("GET / HTTP/1.1\r\nHost: somewhere\r\nAccept: everything there is, and more\r\n\r\n");
    EXPECT_TRUE(scanner.is_closed());
  }
  auto one = coming(1, "one");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "one", "two"));
  server_->answer(1, "yes", patience());
  server_->answer(2, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
  EXPECT_EQ(two.get(), "yes");
}

/// Who begins well and stops in the middle of the handshake, at each place.
TEST_F(Meeting, HalfAHandshakeDisturbsNobody) {
  open(2);
  welcome();
  trust::Nonce nonce;
  host::fill_random(nonce);
  const trust::Party party = proof().party(1);
  const trust::Handshake handshake = trust::Handshake::connecting(*crypto_, key_, party, 0, nonce);
  const std::span<const std::byte> greeting = handshake.to_send();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{67}, greeting.size()}) {
    Raw stranger(place_.port);
    stranger.write(greeting.first(bytes));
    stranger.end_writing();
    static_cast<void>(stranger.read(1000));
    EXPECT_TRUE(stranger.is_closed()) << bytes;
  }
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
}

TEST_F(Meeting, ManySilentOnesKeepNobodyOut) {
  open(2);
  std::vector<std::unique_ptr<Raw>> silent;
  welcome();
  for (std::size_t i = 0; i < 3 * Entrance::most_strangers; ++i)
    silent.push_back(std::make_unique<Raw>(place_.port));
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_TRUE(silent.front()->is_closed());
}

/// A silent stranger does not hold up the end either.
TEST_F(Meeting, ASilentOneDoesNotExtendTheWait) {
  open(2);
  const Raw silent(place_.port);
  welcome(patience(200 * ms));
  EXPECT_THAT(welcomed(), HasSubstr("node 1 of 2 did not come within"));
}

/// Node 0 is here already.
TEST_F(Meeting, NobodyComesAsNodeZero) {
  open(2);
  welcome();
  Raw second(place_.port);
  EXPECT_FALSE(second.prove(proof(), 0));
  EXPECT_TRUE(second.is_closed());
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
}

TEST_F(Meeting, TheDoorIsShutWhenAllHaveCome) {
  open(2);
  welcome();
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(come(1, "me, too", patience(100 * ms)), HasSubstr("takes no connection since"));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

// -- who is of the job, and broken --------------------------------------------------------------------------------------------

class BrokenGuests : public Meeting, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(InEveryWay, BrokenGuests, testing::Range(0, 7));

TEST_P(BrokenGuests, MembersAreCutOffAndMayComeAgain) {
  open(3);
  welcome();
  {
    Raw member(place_.port);
    ASSERT_TRUE(member.prove(proof(), 1));
    switch (GetParam()) {
      case 0:
        member.write_length(~0u);
        break;
      case 1:
        member.write_length(static_cast<std::uint32_t>(TextSocket::longest) + 1);
        break;
      case 2:
        member.write_length(0x8000'0000);
        member.write(std::string(1000, 'x'));
        break;
      case 3:  // ends at once
        member.end_writing();
        break;
      case 4:  // in the middle of a length
        member.write("ab");
        member.end_writing();
        break;
      case 5:  // behind the length
        member.write_length(100);
        member.end_writing();
        break;
      default:  // in the middle of the text
        member.write_length(100'000);
        member.write(std::string(99'999, 'x'));
        member.end_writing();
    }
    EXPECT_TRUE(member.is_closed());
  }
  auto one = coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "one", "two"));
}

/// It has announced a long text and sends no more of it: the others are let in, and it is named.
TEST_F(Meeting, HalfATextIsWaitedFor) {
  open(3);
  Raw member(place_.port);
  welcome(patience(1'500 * ms));
  ASSERT_TRUE(member.prove(proof(), 1));
  member.write_length(100);
  member.write("half");
  auto two = coming(2, "two");
  const bool in_time = has_text_of(2);
  EXPECT_THAT(welcomed(),
              HasSubstr(in_time ? "node 1 of 3 did not come within" : "nodes 1 and 2 of 3 did not come"));
  server_.reset();
  EXPECT_NE(two.get(), "two");
}

TEST_F(Meeting, TextsMayComeByteByByte) {
  open(2);
  welcome();
  Raw member(place_.port);
  ASSERT_TRUE(member.prove(proof(), 1));
  std::string bytes = {5, 0, 0, 0};
  for (const char byte : bytes + "hello") member.write(std::string(1, byte));
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_EQ(texts_[1], "hello");
}

TEST_F(Meeting, WhatComesBehindATextIsTheNextOne) {
  open(2);
  welcome();
  Raw member(place_.port);
  ASSERT_TRUE(member.prove(proof(), 1));
  member.write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  member.write_text("one");
  member.write_text("");
  member.write_text("three");
  const std::vector<NodeId> one = {1};
  for (const char* text : {"one", "", "three"})
    EXPECT_THAT(server_->gather(one, patience()), ElementsAre(text));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(member.read_text(), "yes");
}

}  // namespace meeting_strangers_test
}  // namespace am::tcp
