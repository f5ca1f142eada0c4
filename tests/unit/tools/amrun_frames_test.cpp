// What the head of amrun and its parts say to each other: all of it comes as it went, and nothing that is cut short or spoilt does
// more harm than a Fault.
#include "amrun/frames.hpp"

#include <gmock/gmock.h>

#include "amrun/fault.hpp"
#include "support/random.hpp"

namespace amrun::amrun_frames_test {

using testing::ElementsAre;

Order some_order() {
  Order order;
  order.host = "b";
  order.placement = {.hosts = {{0, 1}, {2}}, .own = 1};
  order.job_name = std::string(15, 'n') + '\0';
  order.job_key = std::string(32, '\xff');
  order.folders = {"/home/me/a folder", "/disk/a folder"};
  order.program = {"./app", "", "an argument"};
  order.environment = {"AM_VERBOSE=1", "X=a=b"};
  order.bind = Bind::core;
  order.report_bindings = true;
  order.label = true;
  order.watchdog_ns = 5;
  return order;
}

TEST(AmrunFrames, ComeAsTheyWentHoweverTheyAreCut) {
  const std::string noise = "some noise\nof a shell\n";
  const std::string bytes = noise + std::string(part_greeting) + encode(Kind::out, "abc") +
                            encode(Kind::input_end, "") + encode(Kind::say, std::string(70000, 'x'));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    FrameReader reader;
    bool greeted = false;
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(std::string_view(bytes).substr(at, piece));
      greeted = greeted || reader.skip_greeting();
      if (!greeted) continue;
      while (auto frame = reader.next()) frames.push_back(*std::move(frame));
    }
    ASSERT_EQ(frames.size(), 3u) << piece;
    EXPECT_EQ(frames[0].kind, Kind::out);
    EXPECT_EQ(frames[0].body, "abc");
    EXPECT_EQ(frames[1].kind, Kind::input_end);
    EXPECT_EQ(frames[1].body, "");
    EXPECT_EQ(frames[2].body, std::string(70000, 'x'));
  }
}

TEST(AmrunFrames, OfNoKindOrTooLongAreRefused) {
  for (const std::string& bytes : {std::string("\0\0\0\0\0", 5), std::string("\x7f\0\0\0\0", 5),
                                   std::string("\x01\xff\xff\xff\xff", 5)}) {
    FrameReader reader;
    reader.feed(bytes);
    EXPECT_THROW(static_cast<void>(reader.next()), Fault);
  }
}

TEST(AmrunFrames, CarryAnOrder) {
  const Order sent = some_order();
  const Order came = Order::decode(sent.encode());
  EXPECT_EQ(came.host, sent.host);
  EXPECT_EQ(came.placement.hosts, sent.placement.hosts);
  EXPECT_EQ(came.placement.own, sent.placement.own);
  EXPECT_EQ(came.job_name, sent.job_name);
  EXPECT_EQ(came.job_key, sent.job_key);
  EXPECT_EQ(came.folders, sent.folders);
  EXPECT_EQ(came.program, sent.program);
  EXPECT_EQ(came.environment, sent.environment);
  EXPECT_EQ(came.bind, sent.bind);
  EXPECT_TRUE(came.report_bindings && came.label);
  EXPECT_EQ(came.watchdog_ns, 5u);
}

TEST(AmrunFrames, CarryHowThingsEnded) {
  const Said said = decode_said(encode(Said{.follows = true, .line = "a line"}));
  EXPECT_TRUE(said.follows);
  EXPECT_EQ(said.line, "a line");
  const Failed heard = decode_failed(encode(Failed{.follows = false, .exit_code = 137}));
  EXPECT_FALSE(heard.follows);
  EXPECT_EQ(heard.exit_code, 137);
  const Ended ended = decode_ended(encode(
      Ended{.exit_code = 3, .first_failure = 4, .any_success = true, .by_signal = 15, .dead = {7, 9}}));
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(ended.first_failure, 4);
  EXPECT_TRUE(ended.any_success);
  EXPECT_EQ(ended.by_signal, 15);
  EXPECT_THAT(ended.dead, ElementsAre(7u, 9u));
}

TEST(AmrunFrames, ThatAreCutShortAreRefused) {
  const std::string order = some_order().encode();
  for (std::size_t length = 0; length < order.size(); ++length)
    EXPECT_THROW(Order::decode(order.substr(0, length)), Fault) << length;
  const std::string ended = encode(Ended{.dead = {1, 2}});
  for (std::size_t length = 0; length < ended.size(); ++length)
    EXPECT_THROW(decode_ended(ended.substr(0, length)), Fault) << length;
}

/// Whatever it makes of it, it ends, and takes no more memory than it was given.
TEST(AmrunFrames, ThatAreSpoiltDoNoHarm) {
  test::Random random(test::seed());
  const std::string whole = some_order().encode();
  for (int i = 0; i < 20000; ++i) {
    std::string spoilt = whole;
    for (auto changes = 1 + random.below(4); changes > 0; --changes)
      spoilt[random.below(spoilt.size())] = static_cast<char>(random());
    try {
      static_cast<void>(Order::decode(spoilt));
      static_cast<void>(decode_ended(spoilt));
    } catch (const Fault&) {  // refused
    }
  }
}

}  // namespace amrun::amrun_frames_test
