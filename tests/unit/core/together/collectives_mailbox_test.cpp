// The mailbox of collectives, message by message and without a network. That nodes which call different ones are told so is tested in
// tests/conformance/collectives_test.cpp.
#include <gtest/gtest.h>

#include <am/collectives.hpp>

#include "core/together/collectives.hpp"

namespace am::core::collectives_mailbox_test {

using Answer = Mailbox::Answer;
using Kind = Round::Kind;

constexpr Round first{.sequence = 1};
constexpr Round second{.sequence = 2};
constexpr Round third{.sequence = 3};

/// A mailbox and a place of 8 bytes to which it copies what is expected.
struct Desk {
  Mailbox mailbox{};
  std::array<std::byte, 8> room{};

  void arrive(const Round& round, NodeId from, std::string_view text) {
    mailbox.arrived(round, from, Payload(text));
  }
  void expect(const Round& round, NodeId from, std::size_t bytes = 4) {
    mailbox.expect(round, from, std::span(room).first(bytes));
  }
  [[nodiscard]] std::string text() const { return {reinterpret_cast<const char*>(room.data()), 4}; }
};

TEST(Mailbox, CombinesInTheOrderOfTheNodes) {
  const auto minus = [](char a, char b) {
    return static_cast<char>(2 * a - b);
  };  // neither associative nor commutative
  const impl::CombineValues<char, decltype(minus)> combine(minus);
  Desk desk;
  const std::string mine = "dcba";
  const auto put = [&] { std::memcpy(desk.room.data(), mine.data(), mine.size()); };
  put();
  desk.mailbox.expect(first, 3, {std::span(desk.room).first(4), combine, false});
  desk.arrive(first, 3, "abcd");
  EXPECT_EQ(desk.mailbox.answer(), Answer::filled);
  EXPECT_EQ(desk.text(), (std::string{2 * 'd' - 'a', 2 * 'c' - 'b', 2 * 'b' - 'c', 2 * 'a' - 'd'}));
  put();
  desk.arrive(second, 3, "abcd");  // kept at first
  EXPECT_EQ(desk.text(), mine);
  desk.mailbox.expect(second, 3, {std::span(desk.room).first(4), combine, true});
  EXPECT_EQ(desk.text(), (std::string{2 * 'a' - 'd', 2 * 'b' - 'c', 2 * 'c' - 'b', 2 * 'd' - 'a'}));
  desk.arrive(second, 3, "abcd");  // a second time
  EXPECT_EQ(desk.text(), (std::string{2 * 'a' - 'd', 2 * 'b' - 'c', 2 * 'c' - 'b', 2 * 'd' - 'a'}));
}

TEST(Mailbox, KeepsWhatComesTooEarly) {
  Desk desk;
  desk.arrive(second, 3, "late");
  desk.arrive(first, 4, "more");
  desk.arrive(first, 3, "abcd");
  EXPECT_EQ(desk.mailbox.kept(), 3u);
  desk.expect(first, 3);
  EXPECT_EQ(desk.mailbox.answer(), Answer::filled);
  EXPECT_EQ(desk.text(), "abcd");
  desk.expect(first, 4);
  EXPECT_EQ(desk.text(), "more");
  desk.expect(second, 3);
  EXPECT_EQ(desk.text(), "late");
  EXPECT_EQ(desk.mailbox.kept(), 0u);
  desk.arrive(third, 3, "");
  desk.expect(third, 3, 0);
  EXPECT_EQ(desk.mailbox.answer(), Answer::filled);
}

TEST(Mailbox, TellsSendersAndRoundsApart) {
  Desk desk;
  desk.expect(first, 3);
  desk.arrive(first, 4, "more");
  desk.arrive(second, 3, "late");
  EXPECT_EQ(desk.mailbox.answer(), Answer::nothing_yet);
  desk.arrive(first, 3, "abcd");
  EXPECT_EQ(desk.mailbox.answer(), Answer::filled);
  EXPECT_EQ(desk.text(), "abcd");
  EXPECT_EQ(desk.mailbox.kept(), 2u) << "the others";
}

TEST(Mailbox, ForgetsAnExpectationThatNobodyHas) {
  Desk desk;
  desk.expect(first, 3);
  desk.mailbox.forget();
  desk.arrive(first, 3, "abcd");
  EXPECT_EQ(desk.mailbox.answer(), Answer::nothing_yet);
  EXPECT_EQ(desk.text(), std::string(4, '\0')) << "the place may be gone";
}

TEST(Mailbox, DropsWhatBelongsToRoundsThatAreOver) {
  Desk desk;
  desk.arrive(first, 3, "abcd");
  desk.arrive(first, 4, "more");
  desk.expect(second, 3);
  EXPECT_EQ(desk.mailbox.kept(), 0u);
  desk.arrive(first, 5, "late");
  EXPECT_EQ(desk.mailbox.kept(), 0u);
  EXPECT_EQ(desk.mailbox.answer(), Answer::nothing_yet);
}

/// A sender that could not tell whether its message was on its way sends it again.
TEST(Mailbox, TakesOneOfTwoAlike) {
  Desk desk;
  desk.arrive(first, 3, "abcd");
  desk.arrive(first, 3, "abcd");
  EXPECT_EQ(desk.mailbox.kept(), 1u);
  desk.expect(first, 3);
  EXPECT_EQ(desk.text(), "abcd");
  desk.arrive(first, 3, "abcd");
  desk.expect(second, 3);
  EXPECT_EQ(desk.mailbox.answer(), Answer::nothing_yet);
  EXPECT_EQ(desk.mailbox.kept(), 0u);
  desk.arrive(first, 3, "abcd");
  EXPECT_EQ(desk.mailbox.answer(), Answer::nothing_yet);
  EXPECT_EQ(desk.mailbox.kept(), 0u);
}

}  // namespace am::core::collectives_mailbox_test
