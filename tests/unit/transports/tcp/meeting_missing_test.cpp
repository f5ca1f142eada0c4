// Meetings whose members come twice, go again, or do not come.
#include "unit/transports/tcp/meeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <am/error.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace am::tcp {
namespace meeting_missing_test {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

// -- who comes again ----------------------------------------------------------------------------------------------------------

TEST_F(Meeting, WhoEndsBeforeItIsAnsweredMayComeAgain) {
  open(3);
  welcome();
  for (int time = 1; time <= 5; ++time) {
    Raw ended(place_.port);
    ASSERT_TRUE(ended.prove(proof(), 1));
    ended.write_text("the " + std::to_string(time) + "th");
    ASSERT_TRUE(has_text_of(1, time));
  }
  auto one = coming(1, "the last");
  EXPECT_TRUE(has_text_of(1, 6));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "the last", "two"));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

/// One that ended is late again, although its text has been here.
TEST_F(Meeting, WhoEndsAndStaysAwayIsMissing) {
  open(3);
  welcome(patience(1'500 * ms));
  bool in_time = false;
  {
    Raw ended(place_.port);
    ASSERT_TRUE(ended.prove(proof(), 1));
    ended.write_text("hello");
    in_time = has_text_of(1);
  }
  auto two = coming(2, "two");
  in_time = has_text_of(2) && in_time;
  EXPECT_THAT(welcomed(),
              in_time ? HasSubstr("node 1 of 3 did not come within") : HasSubstr("did not come within"));
  server_.reset();
  EXPECT_NE(two.get(), "two");
}

/// What the one that ended said is not taken for what the new one, which is there and has yet to speak, will say.
TEST_F(Meeting, WhoComesAgainIsWaitedForAnew) {
  open(3);
  welcome();
  {
    Raw ended(place_.port);
    ASSERT_TRUE(ended.prove(proof(), 1));
    ended.write_text("old");
    ASSERT_TRUE(has_text_of(1));
  }
  Raw again(place_.port);
  ASSERT_TRUE(again.prove(proof(), 1));
  auto two = coming(2, "two");
  EXPECT_TRUE(has_text_of(2));
  again.write_text("new");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "new", "two"));
}

/// Node 0 is busy while a text comes, its sender ends, and the one in its place proves the key: all is heard at once.
TEST_F(Meeting, WhoComesAgainIsTakenWhenTheEndIsHeardOfAtTheSameTime) {
  open(4);
  welcome_and_be_busy_with(3);
  auto first = std::make_unique<Raw>(place_.port);
  ASSERT_TRUE(first->prove(proof(), 1));
  Raw again(place_.port);
  again.begin(proof(), 1);
  Raw three(place_.port);
  ASSERT_TRUE(three.prove(proof(), 3));
  three.write_text("three");
  busy_.wait();
  first->write_text("old");
  first = nullptr;
  ASSERT_TRUE(again.finish());
  again.write_text("new");
  go_on_.count_down();
  ASSERT_TRUE(has_text_of(1));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  ASSERT_EQ(texts_.size(), 4u);
  EXPECT_EQ(texts_[1], "new");
}

TEST_F(Meeting, TheSecondOfTwoWithOneRankIsRefused) {
  open(3);
  welcome();
  auto one = coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  EXPECT_THAT(come(1, "one, too"), HasSubstr("another process has come as this node already"));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "one", "two"));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

TEST_F(Meeting, OfManyWithOneRankOneIsTaken) {
  open(3);
  welcome();
  std::vector<std::shared_future<std::string>> ones;
  for (int i = 0; i < 8; ++i) ones.push_back(coming(1, "one"));
  // The door is open until the others have been refused.
  const auto refused = [&] {
    return std::ranges::count_if(
        ones, [](auto& one) { return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  };
  while (refused() < 7) std::this_thread::yield();
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  int taken = 0;
  for (auto& one : ones) {
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
  open(3);
  welcome();
  auto one = coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  MeetingProof other = proof();
  other.nodes = 4096;
  auto lost = std::async(std::launch::async, [&] { return come_with(other, GetParam(), "hello"); });
  EXPECT_THAT(welcomed(),
              AllOf(HasSubstr("came as node " + std::to_string(GetParam()) + " of a job that has 3 nodes"),
                    HasSubstr("the same size")));
  server_.reset();
  EXPECT_THAT(one.get(), HasSubstr("ended"));
  EXPECT_THAT(lost.get(), HasSubstr("its job has no such node"));
}

TEST_F(Meeting, ATextThatIsRefusedEndsIt) {
  open(3);
  welcome(patience(), [](NodeId node, const std::string& text) {
    if (text == "bad") throw Error("test", "node " + std::to_string(node) + " is bad", "none");
  });
  auto two = coming(2, "good");
  EXPECT_TRUE(has_text_of(2));
  auto one = coming(1, "bad");
  EXPECT_THAT(welcomed(), HasSubstr("node 1 is bad"));
  server_.reset();
  EXPECT_THAT(one.get(), HasSubstr("ended"));
  EXPECT_THAT(two.get(), HasSubstr("ended"));
}

// -- who does not come, or goes -----------------------------------------------------------------------------------------------

TEST_F(Meeting, NamesWhoDidNotCome) {
  open(4);
  welcome(patience(1'500 * ms));
  auto two = coming(2, "two");
  const bool in_time = has_text_of(2);  // on a machine that does not stand still
  EXPECT_THAT(welcomed(), AllOf(HasSubstr(in_time ? "nodes 1 and 3 of 4 did not come within"
                                                  : "nodes 1, 2 and 3 of 4 did not come within"),
                                HasSubstr("AM_TIMEOUT")));
  server_.reset();
  EXPECT_THAT(two.get(), HasSubstr("ended"));
}

TEST_F(Meeting, NodeZeroReportsOnceWhoIsMissing) {
  open(4);
  Reports reports;
  welcome(reports.patience());
  reports.wait_for_one();
  std::vector<std::shared_future<std::string>> nodes;
  for (const NodeId node : others(4)) nodes.push_back(coming(node, "hello"));
  EXPECT_EQ(welcomed(), "no error");
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], MatchesRegex("waits for nodes 1, 2 and 3 to join since [0-9.]+ s"));
}

TEST_F(Meeting, NodeZeroThatNeverComesIsNamed) {
  EXPECT_THAT(come(1, "hello", patience(100 * ms)),
              AllOf(HasSubstr("node 0 at " + place_.text() + " takes no connection since"),
                    HasSubstr("Connection refused"), HasSubstr("is node 0 running there")));
}

TEST_F(Meeting, ANameThatNobodyKnowsIsTriedUntilTheEnd) {
  place_.host = std::string(70, 'a');  // longer than a name can be: no name server is asked
  Reports reports;
  EXPECT_THAT(come(1, "hello", reports.patience(200 * ms)),
              HasSubstr("there is no address for " + place_.host));
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], HasSubstr("there is no address for " + place_.host));
}

/// Somebody takes connections there, as node 0's system does, but node 0 says nothing: it is stopped, or it is another program.
class Deaf : public Meeting {
 protected:
  Socket listening_ = [this] {
    Address at = Address::parse(place_.text()).value();
    return listen_at(at);
  }();
};

TEST_F(Deaf, WhoSaysNothingIsNotWaitedForLongerThanPatienceLasts) {
  EXPECT_THAT(come(1, "hello", patience(200 * ms)),
              AllOf(HasSubstr("takes no connection since"),
                    HasSubstr("whoever takes connections there says nothing")));
}

TEST_F(Deaf, IsReported) {
  Reports reports;
  static_cast<void>(come(1, "hello", reports.patience(1'000 * ms)));
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], HasSubstr("waits for node 0 at " + place_.text()));
}

/// Who was there a moment ago is taken for one that will come again.
TEST_F(Deaf, WhoHangsUpIsTriedAgain) {
  auto one = coming(1, "hello");
  for (int i = 0; i < 3; ++i) {
    pollfd polled{listening_.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&polled, 1, 60'000), 1);
    EXPECT_TRUE(accept_from(listening_));
  }
  listening_ = {};
  open(2);
  welcome();
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

TEST_F(Deaf, WhoSpeaksAnotherLanguageIsNotTriedAgain) {
  auto one = coming(1, "hello");
  pollfd polled{listening_.descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, 60'000), 1);
  Socket guest = accept_from(listening_);
  EXPECT_EQ(guest.write(std::as_bytes(std::span("220 mail.example ESMTP\r\n"))).outcome,
            Socket::Moved::Outcome::some);
  EXPECT_THAT(one.get(), HasSubstr("does not speak libam's language"));
}

TEST_F(Meeting, ANodeThatWaitsForTheAnswerSaysSo) {
  open(3);
  Reports reports;
  welcome();
  auto one = coming(1, "one", reports.patience());
  EXPECT_TRUE(has_text_of(1));
  reports.wait_for_one();
  EXPECT_THAT(reports.texts().back(), HasSubstr("node 0 at " + place_.text()));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

TEST_F(Meeting, ANodeDoesNotWaitForItsAnswerLongerThanPatienceLasts) {
  open(3);
  welcome();
  EXPECT_THAT(come(1, "one", patience(300 * ms)),
              AnyOf(HasSubstr("does not answer since"), HasSubstr("takes no connection since")));
  auto one = coming(1, "one");
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
}

TEST_F(Meeting, NodeZeroThatEndsWhileOthersWaitIsNoticed) {
  open(4);
  welcome();
  std::vector<std::shared_future<std::string>> nodes;
  for (const NodeId node : others(4)) nodes.push_back(coming(node, "hello"));
  EXPECT_EQ(welcomed(), "no error");
  server_.reset();
  for (auto& node : nodes) EXPECT_THAT(node.get(), HasSubstr("node 0 at " + place_.text() + " has ended"));
}

TEST_F(Meeting, ARoundNamesWhoHasEnded) {
  open(3);
  welcome();
  Raw one(place_.port);
  ASSERT_TRUE(one.prove(proof(), 1));
  one.write_text("hello");
  auto two = std::make_unique<Raw>(place_.port);
  ASSERT_TRUE(two->prove(proof(), 2));
  two->write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  one.write_text("round");
  two = nullptr;
  EXPECT_THAT(error_of([&] { static_cast<void>(server_->gather(others(3), patience())); }),
              HasSubstr("node 2 has ended"));
}

/// It may say its last text first.
TEST_F(Meeting, ARoundTakesWhatTheDeadHaveSaid) {
  open(2);
  welcome();
  {
    Raw one(place_.port);
    ASSERT_TRUE(one.prove(proof(), 1));
    one.write_text("hello");
    EXPECT_EQ(welcomed(), "no error");
    one.write_text("the last");
  }
  EXPECT_THAT(server_->gather(others(2), patience()), ElementsAre("the last"));
  EXPECT_THAT(error_of([&] { static_cast<void>(server_->gather(others(2), patience())); }),
              HasSubstr("node 1 has ended"));
}

TEST_F(Meeting, ARoundNamesWhoSaysNothing) {
  open(3);
  welcome();
  Raw one(place_.port);
  ASSERT_TRUE(one.prove(proof(), 1));
  one.write_text("hello");
  Raw two(place_.port);
  ASSERT_TRUE(two.prove(proof(), 2));
  two.write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  Reports reports;
  EXPECT_THAT(
      error_of([&] { static_cast<void>(server_->gather(others(3), reports.patience(100 * ms))); }),
      AllOf(HasSubstr("the hosts of nodes 1 and 2 did not all come within"), HasSubstr("AM_TIMEOUT")));
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], HasSubstr("waits for the hosts of nodes 1 and 2 to join since"));
}

TEST_F(Meeting, AnAnswerToNobodyIsAnError) {
  open(3);
  welcome();
  auto one = coming(1, "one");
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  for (const NodeId node : {0u, 3u, 4096u}) {
    EXPECT_THAT(error_of([&] { server_->answer(node, "yes", patience()); }),
                HasSubstr("node " + std::to_string(node) + " has ended"));
  }
  server_.reset();
  EXPECT_THAT(one.get(), HasSubstr("has ended"));
}

TEST_F(Meeting, AnAnswerThatIsNotTakenIsAnError) {
  open(2);
  welcome();
  Raw one(place_.port);
  ASSERT_TRUE(one.prove(proof(), 1));
  one.write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  std::string more_than_the_system_keeps;
  more_than_the_system_keeps.resize(60'000'000);
  EXPECT_THAT(error_of([&] { server_->answer(1, more_than_the_system_keeps, patience(100 * ms)); }),
              HasSubstr("node 1 has ended, or does not answer"));
}

}  // namespace meeting_missing_test
}  // namespace am::tcp
