// Meetings to which all come, of however many, in rounds, and wherever node 0 is.
#include "unit/transports/tcp/meeting.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <chrono>

#include "support/random.hpp"

namespace am::tcp::meeting_test {

using namespace testing;

std::string large(std::size_t bytes, NodeId node) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(test::mix(node, i));
  return text;
}

TEST_F(Meeting, MoreMayComeAtOnceThanThereArePlaces) {
  open(2 * Entrance::most_strangers);
  for (const NodeId node : others(nodes_)) coming(node, std::to_string(node));
  welcome();
  expect_all_welcome();
  for (const NodeId node : others(nodes_)) {
    EXPECT_EQ(texts_[node], std::to_string(node));
    server_->answer(node, "yes", patience());
  }
  end();
  for (auto& answer : coming_) EXPECT_EQ(answer.get(), "yes");
}

/// It takes itself for one that was let in, and what happens to it then for the end of node 0.
TEST_F(Meeting, WhoHasProvedTheKeyDoesNotGiveWayToStrangers) {
  open(4);
  welcome_and_be_busy_with(3);
  Raw three = member(3);
  Raw one(place_.port);
  one.begin(proof(), 1);  // node 0 has answered it: it has a place
  const auto has_place_since = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Raw>> strangers;
  three.write_text("three");
  busy_.wait();
  for (std::size_t i = 0; i < Entrance::most_strangers + 10; ++i)
    strangers.push_back(std::make_unique<Raw>(place_.port));
  ASSERT_TRUE(one.finish());
  one.write_text("one");
  // It has had its chance, as far as the clock goes.
  while (std::chrono::steady_clock::now() <
         has_place_since + 2 * std::chrono::nanoseconds(Entrance::chance_ns))
    std::this_thread::yield();
  go_on_.count_down();
  EXPECT_TRUE(has_text_of(1));
  coming(2, "two");
  expect_all_welcome();
}

/// Who gathers says in which order.
TEST_F(Meeting, GoesOnInRoundsWithThoseWhoStayAndCarriesTextsOfAnyLength) {
  hold_meeting(4);
  const std::vector<std::size_t> lengths = {9'000'000, 3, 4, 16383, 16384, 16385, 5'000'000, 0, 0, 1};
  const auto stay = [&](NodeId node) {
    return std::async(std::launch::async, [&, node] {
      MeetingClient client(proof(), place_, node, patience());
      return std::ranges::all_of(lengths, [&](std::size_t bytes) {
        return client.ask(large(bytes, node), patience()) == large(bytes, node + 10);
      });
    });
  };
  auto one = stay(1);
  auto two = stay(2);
  const auto leaving = coming(3, "");
  expect_all_welcome();
  EXPECT_TRUE(texts_[1] == large(lengths[0], 1));
  EXPECT_EQ(texts_[3], "");
  expect_answer_gets_to(3, leaving);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i > 0) {
      const std::vector<std::string> expected = {large(lengths[i], 2), large(lengths[i], 1)};
      EXPECT_TRUE(gather({2, 1}) == expected) << lengths[i];
    }
    for (const NodeId node : {1u, 2u}) server_->answer(node, large(lengths[i], node + 10), patience());
  }
  EXPECT_TRUE(one.get() && two.get());
}

/// As behind a service or a translated address: node 0 has none that others were told.
TEST_F(Meeting, AnAddressOfNobodyHereIsAnyHere) {
  for (const std::string host : {"192.0.2.1", "2001:db8::1"}) {
    nodes_ = 2;
    server_ = std::make_unique<MeetingServer>(proof(), MeetingPlace{host, place_.port});
    auto one = coming(1, "hello");
    EXPECT_EQ(server_->welcome([](NodeId, const std::string&) {}, patience()).back(), "hello");
    end();
  }
}

TEST_F(Meeting, NeedsADescriptorForEach) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 200;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_THAT(error_of([&] { open(1000); }), AllOf(HasSubstr("999 nodes"), HasSubstr("ulimit -n 1128")));
  EXPECT_EQ(error_of([&] { open(10); }), "no error");
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace am::tcp::meeting_test
