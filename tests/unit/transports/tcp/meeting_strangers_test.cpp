// Meetings whose members come twice, go again, do not come, or say what nobody should; and strangers at the door.
#include "unit/transports/tcp/meeting.hpp"

#include <gmock/gmock.h>
#include <poll.h>

#include <chrono>

namespace am::tcp::meeting_strangers_test {

using namespace testing;

/// One that ended is late again, although its text has been here.
TEST_F(Meeting, WhoEndsAndStaysAwayIsMissing) {
  hold_meeting(3, patience(1'500 * ms));
  bool in_time = false;
  {
    Raw ended = member(1, "hello");
    in_time = has_text_of(1);
  }
  auto two = coming(2, "two");
  in_time = has_text_of(2) && in_time;
  EXPECT_THAT(welcomed(),
              in_time ? HasSubstr("node 1 of 3 did not come within") : HasSubstr("did not come within"));
  end();
  EXPECT_NE(two.get(), "two");
}

/// What the one that ended said is not taken for what the new one, which is there and has yet to speak, will say.
TEST_F(Meeting, WhoComesAgainIsWaitedForAnew) {
  hold_meeting(3);
  {
    Raw ended = member(1, "old");
    ASSERT_TRUE(has_text_of(1));
  }
  Raw again = member(1);
  auto two = coming(2, "two");
  EXPECT_TRUE(has_text_of(2));
  again.write_text("new");
  expect_all_welcome();
  EXPECT_THAT(texts_, ElementsAre("", "new", "two"));
}

/// Node 0 is busy while a text comes, its sender ends, and the one in its place proves the key: all is heard at once.
TEST_F(Meeting, WhoComesAgainIsTakenWhenTheEndIsHeardOfAtTheSameTime) {
  open(4);
  welcome_and_be_busy_with(3);
  std::optional<Raw> first = member(1);
  Raw again(place_.port);
  again.begin(proof(), 1);
  Raw three = member(3, "three");
  busy_.wait();
  first->write_text("old");
  first.reset();
  ASSERT_TRUE(again.finish());
  again.write_text("new");
  go_on_.count_down();
  ASSERT_TRUE(has_text_of(1));
  auto two = coming(2, "two");
  expect_all_welcome();
  ASSERT_EQ(texts_.size(), 4u);
  EXPECT_EQ(texts_[1], "new");
}

TEST_F(Meeting, OfManyWithOneRankOneIsTaken) {
  hold_meeting(3);
  for (int i = 0; i < 8; ++i) coming(1, "one");
  const std::vector<std::shared_future<std::string>> ones = coming_;
  // The door is open until the others have been refused.
  const auto refused = [&] {
    return std::ranges::count_if(ones, [](const auto& one) {
      return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
  };
  while (refused() < 7) std::this_thread::yield();
  auto two = coming(2, "two");
  expect_all_welcome();
  server_->answer(1, "yes", patience());
  int taken = 0;
  for (const auto& one : ones) {
    const std::string answer = one.get();
    taken += answer == "yes" ? 1 : 0;
    EXPECT_THAT(answer, AnyOf("yes", HasSubstr("another process has come as this node")));
  }
  EXPECT_EQ(taken, 1);
}

/// Somebody has counted otherwise: the job cannot be what was meant, and all are told.
class CountedOtherwise : public Meeting, public testing::WithParamInterface<NodeId> {};
INSTANTIATE_TEST_SUITE_P(ByOneAndMore, CountedOtherwise, testing::Values(3, 4, 4095));

TEST_P(CountedOtherwise, ARankThatTheJobDoesNotHaveEndsIt) {
  hold_meeting(3);
  auto one = coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  MeetingProof other = proof();
  other.nodes = 4096;
  auto lost = std::async(std::launch::async, [&] { return come_with(other, GetParam(), "hello"); });
  EXPECT_THAT(welcomed(),
              AllOf(HasSubstr("came as node " + std::to_string(GetParam()) + " of a job that has 3 nodes"),
                    HasSubstr("the same size")));
  end();
  EXPECT_THAT(one.get(), HasSubstr("ended"));
  EXPECT_THAT(lost.get(), HasSubstr("its job has no such node"));
}

TEST_F(Meeting, ANameThatNobodyKnowsIsTriedUntilTheEnd) {
  place_.host = std::string(70, 'a');  // longer than a name can be: no name server is asked
  Reports reports;
  EXPECT_THAT(come(1, "hello", reports.patience(200 * ms)),
              HasSubstr("there is no address for " + place_.host));
  EXPECT_THAT(reports.texts(), ElementsAre(HasSubstr("there is no address for " + place_.host)));
}

/// Somebody takes connections there, as node 0's system does, but node 0 says nothing: it is stopped, or it is another program.
class Deaf : public Meeting {
 protected:
  Socket listening_ = [this] {
    Address at = Address::parse(place_.text()).value();
    return listen_at(at);
  }();
  /// The next connection.
  Socket accept() {
    pollfd polled{listening_.descriptor(), POLLIN, 0};
    EXPECT_EQ(poll(&polled, 1, 60'000), 1);
    return accept_from(listening_);
  }
};

TEST_F(Deaf, WhoSaysNothingIsReportedAndNotWaitedForLongerThanPatienceLasts) {
  Reports reports;
  EXPECT_THAT(come(1, "hello", reports.patience(200 * ms)),
              AllOf(HasSubstr("takes no connection since"),
                    HasSubstr("the process that takes connections there says nothing")));
  EXPECT_THAT(reports.texts(), ElementsAre(HasSubstr("waits for node 0 at " + place_.text())));
}

/// Who was there a moment ago is taken for one that will come again.
TEST_F(Deaf, WhoHangsUpIsTriedAgain) {
  auto one = coming(1, "hello");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(accept());
  listening_ = {};
  hold_meeting(2);
  expect_all_welcome();
  expect_answer_gets_to(1, one);
}

TEST_F(Deaf, WhoSpeaksAnotherLanguageIsNotTriedAgain) {
  auto one = coming(1, "hello");
  Socket guest = accept();
  EXPECT_EQ(guest.write(std::as_bytes(std::span("220 mail.example ESMTP\r\n"))).outcome,
            Socket::Moved::Outcome::some);
  EXPECT_THAT(one.get(), HasSubstr("does not speak libam's language"));
}

TEST_F(Meeting, ANodeDoesNotWaitForItsAnswerLongerThanPatienceLasts) {
  hold_meeting(3);
  EXPECT_THAT(come(1, "one", patience(300 * ms)),
              AnyOf(HasSubstr("does not answer since"), HasSubstr("takes no connection since")));
  auto one = coming(1, "one");
  auto two = coming(2, "two");
  expect_all_welcome();
}

/// It may say its last text first.
TEST_F(Meeting, ARoundTakesWhatTheDeadHaveSaid) {
  hold_meeting(2);
  {
    Raw one = member(1, "hello");
    expect_all_welcome();
    one.write_text("the last");
  }
  EXPECT_THAT(gather(others(2)), ElementsAre("the last"));
  EXPECT_THAT(error_of([&] { static_cast<void>(gather(others(2))); }), HasSubstr("node 1 has ended"));
}

TEST_F(Meeting, ARoundNamesWhoSaysNothing) {
  hold_meeting(3);
  Raw one = member(1, "hello");
  Raw two = member(2, "hello");
  expect_all_welcome();
  Reports reports;
  EXPECT_THAT(
      error_of([&] { static_cast<void>(gather(others(3), reports.patience(100 * ms))); }),
      AllOf(HasSubstr("the hosts of nodes 1 and 2 did not all come within"), HasSubstr("AM_TIMEOUT")));
  EXPECT_THAT(reports.texts(), ElementsAre(HasSubstr("waits for the hosts of nodes 1 and 2 to join since")));
}

TEST_F(Meeting, AnAnswerToNobodyIsAnError) {
  hold_meeting(3);
  auto one = coming(1, "one");
  auto two = coming(2, "two");
  expect_all_welcome();
  for (const NodeId node : {0u, 3u, 4096u})
    EXPECT_THAT(error_of([&] { server_->answer(node, "yes", patience()); }),
                HasSubstr("node " + std::to_string(node) + " has ended"));
  end();
  EXPECT_THAT(one.get(), HasSubstr("node 0 at " + place_.text() + " has ended"));
}

TEST_F(Meeting, AnAnswerThatIsNotTakenIsAnError) {
  hold_meeting(2);
  Raw one = member(1, "hello");
  expect_all_welcome();
  const std::string more_than_the_system_keeps(60'000'000, '\0');
  EXPECT_THAT(error_of([&] { server_->answer(1, more_than_the_system_keeps, patience(100 * ms)); }),
              HasSubstr("node 1 has ended, or does not answer"));
}

/// Who begins well and stops in the middle of the handshake, at each place.
TEST_F(Meeting, HalfAHandshakeDisturbsNobody) {
  hold_meeting(2);
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
  expect_all_welcome();
}

TEST_F(Meeting, TheDoorIsShutWhenAllHaveCome) {
  hold_meeting(2);
  auto one = coming(1, "hello");
  expect_all_welcome();
  EXPECT_THAT(come(1, "me, too", patience(100 * ms)), HasSubstr("takes no connection since"));
  expect_answer_gets_to(1, one);
}

/// What a member says that nobody can.
struct Nonsense {
  const char* name;
  std::optional<std::uint32_t> length;
  std::string text;
  bool ends;  // then
};
class BrokenGuests : public Meeting, public testing::WithParamInterface<Nonsense> {};
INSTANTIATE_TEST_SUITE_P(
    InEveryWay, BrokenGuests,
    testing::Values(Nonsense{"ALengthOfFourGigabytes", ~0u, "", false},
                    Nonsense{"ALengthOverTheLimit", static_cast<std::uint32_t>(TextSocket::longest) + 1, "",
                             false},
                    Nonsense{"ALengthOfTwoGigabytes", 0x8000'0000, std::string(1000, 'x'), false},
                    Nonsense{"TheEndAtOnce", {}, "", true},
                    Nonsense{"TheEndInTheMiddleOfALength", {}, "ab", true},
                    Nonsense{"TheEndBehindTheLength", 100, "", true},
                    Nonsense{"TheEndInTheMiddleOfTheText", 100'000, std::string(99'999, 'x'), true}),
    [](const auto& way) { return way.param.name; });

TEST_P(BrokenGuests, MembersAreCutOffAndMayComeAgain) {
  hold_meeting(3);
  {
    Raw broken = member(1);
    if (GetParam().length) broken.write_length(*GetParam().length);
    broken.write(GetParam().text);
    if (GetParam().ends) broken.end_writing();
    EXPECT_TRUE(broken.is_closed());
  }
  coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  coming(2, "two");
  expect_all_welcome();
  EXPECT_THAT(texts_, ElementsAre("", "one", "two"));
}

/// It has announced a long text and sends no more of it: the others are let in, and it is named.
TEST_F(Meeting, HalfATextIsWaitedFor) {
  hold_meeting(3, patience(1'500 * ms));
  Raw one = member(1);
  one.write_length(100);
  one.write("half");
  auto two = coming(2, "two");
  const bool in_time = has_text_of(2);
  EXPECT_THAT(welcomed(),
              HasSubstr(in_time ? "node 1 of 3 did not come within" : "nodes 1 and 2 of 3 did not come"));
  end();
  EXPECT_NE(two.get(), "two");
}

TEST_F(Meeting, TextsMayComeByteByByte) {
  hold_meeting(2);
  Raw one = member(1);
  const std::string length = {5, 0, 0, 0};
  for (const char byte : length + "hello") one.write(std::string(1, byte));
  expect_all_welcome();
  EXPECT_EQ(texts_[1], "hello");
}

TEST_F(Meeting, WhatComesBehindATextIsTheNextOne) {
  hold_meeting(2);
  Raw one = member(1, "hello");
  expect_all_welcome();
  for (const char* text : {"one", "", "three"}) one.write_text(text);
  for (const char* text : {"one", "", "three"}) EXPECT_THAT(gather({1}), ElementsAre(text));
  server_->answer(1, "yes", patience());
  const std::byte expected[] = {std::byte{3}, {}, {}, {}, std::byte{'y'}, std::byte{'e'}, std::byte{'s'}};
  EXPECT_THAT(one.read(7), testing::ElementsAreArray(expected));
}

}  // namespace am::tcp::meeting_strangers_test
