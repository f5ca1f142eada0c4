// Frames as they are written and read, byte by byte; and what is no frame. Random bytes: tests/fuzz/frames_fuzz.cpp.
#include "transports/frames/frames.hpp"

#include <gtest/gtest.h>

#include "support/patterns.hpp"

namespace am::frames::frames_test {

using Kind = Frame::Kind;
using Outcome = Read::Outcome;

/// Bytes at a multiple of 16, with nothing behind them: a sanitizer sees who reads on.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : memory_(new (std::align_val_t{16}) std::byte[size]), size_(size) {}
  explicit Bytes(std::span<const std::byte> from) : Bytes(from.size()) {
    std::copy(from.begin(), from.end(), memory_.get());
  }
  [[nodiscard]] std::byte* data() { return memory_.get(); }
  std::byte& operator[](std::size_t at) { return memory_.get()[at]; }
  [[nodiscard]] std::span<const std::byte> all() const { return {memory_.get(), size_}; }

 private:
  struct Delete {
    void operator()(std::byte* p) const { operator delete[](p, std::align_val_t{16}); }
  };
  std::unique_ptr<std::byte, Delete> memory_;
  std::size_t size_;
};

Frame message(std::size_t words, std::span<const std::byte> payload, std::uint16_t flags = 0) {
  Frame frame{.kind = Kind::message, .priority = Priority::high};
  if (!payload.empty()) flags |= impl::flag::payload;
  frame.head = impl::Header::make(513, words, 0, flags);
  frame.origin = 0x01020304;
  for (std::size_t i = 0; i < words; ++i) frame.words[i] = 0x1122334455667700 + i;
  frame.payload = Payload(payload.data(), payload.size());
  return frame;
}

Bytes written(const Frame& frame) {
  static std::vector<std::byte> room(
      longest_frame);  // written over: to make one is most of what a test costs
  return Bytes(std::span(room).first(write_frame(room.data(), frame)));
}

Read read(const Bytes& bytes, Frame& frame) { return read_frame(bytes.all(), frame); }

/// What is read of the bytes that are written of it is the same, and no more is read.
void expect_back(const Frame& sent) {
  const Bytes bytes = written(sent);
  EXPECT_EQ(bytes.all().size(), frame_bytes(sent));
  EXPECT_EQ(bytes.all().size() % frame_alignment, 0u);
  Frame came;
  const Read result = read(bytes, came);
  ASSERT_EQ(result.outcome, Outcome::frame) << result.why;
  EXPECT_EQ(result.bytes, bytes.all().size());
  EXPECT_EQ(came.kind, sent.kind);
  EXPECT_EQ(came.priority, sent.priority);
  EXPECT_EQ(came.head.bits, sent.head.bits);
  EXPECT_EQ(came.origin, sent.origin);
  EXPECT_EQ(came.words, sent.words);
  EXPECT_TRUE(std::ranges::equal(came.payload.bytes(), sent.payload.bytes()));
  EXPECT_EQ(came.bytes_elsewhere, sent.bytes_elsewhere);
  EXPECT_EQ(came.word, sent.word);
  EXPECT_EQ(came.value, sent.value);
  EXPECT_EQ(came.clock, sent.clock);
  EXPECT_EQ(came.address, sent.address);
  EXPECT_EQ(came.key, sent.key);
  if (!sent.payload.empty()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(came.payload.data()) % impl::payload_alignment, 0u);
  }
}

Frame message_elsewhere(std::size_t words, std::uint32_t payload_bytes) {
  Frame frame = message(words, {}, impl::flag::payload);
  frame.kind = Kind::elsewhere;
  frame.bytes_elsewhere = payload_bytes;
  frame.address = 0x8877665544332211;
  frame.key = 0x99;
  return frame;
}

TEST(Frames, MessagesComeOutAsTheyWentIn) {
  for (std::size_t words = 0; words <= impl::max_words; ++words) {
    for (const std::size_t size : {0, 1, 15, 16, 17, 1024, 65535, 65536}) {
      const std::vector<std::byte> payload = test::patterned(size, 1);
      expect_back(message(words, payload));
    }
    expect_back(message_elsewhere(words, frame_payload_bytes));
  }
}

TEST(Frames, APayloadThatIsThereIsNotCopied) {
  Bytes bytes(message_bytes(2, 100));
  std::fill_n(bytes.data(), bytes.all().size(), std::byte{0xff});
  std::memset(bytes.data() + payload_at(2), 7, 100);
  Frame sent = message(2, {});
  sent.head = impl::Header::make(1, 2, 0, impl::flag::payload);
  sent.payload = Payload(bytes.data() + payload_at(2), 100);
  EXPECT_EQ(write_frame(bytes.data(), sent), bytes.all().size());
  Frame came;
  ASSERT_EQ(read(bytes, came).outcome, Outcome::frame);
  ASSERT_EQ(came.payload.size(), 100u);
  EXPECT_TRUE(std::all_of(came.payload.data(), came.payload.data() + 100,
                          [](std::byte byte) { return byte == std::byte{7}; }));
  const auto behind = bytes.all().subspan(payload_at(2) + 100);
  EXPECT_TRUE(std::all_of(behind.begin(), behind.end(), [](std::byte byte) { return byte == std::byte{}; }))
      << "what lay in memory does not travel";
}

TEST(Frames, TheOthersComeOutAsTheyWentIn) {
  constexpr std::uint64_t number = 0x8877665544332211;
  const Frame sent[] = {
      {.kind = Kind::credit, .priority = Priority::high, .value = number},
      {.kind = Kind::word, .word = 0xffffffff, .value = number},
      {.kind = Kind::clock, .value = number},
      {.kind = Kind::answer, .value = number, .clock = ~number},
      {.kind = Kind::farewell},
      {.kind = Kind::fetched, .priority = Priority::high, .value = number},
      {.kind = Kind::segment, .address = number, .key = ~number},
      {.kind = Kind::probe, .value = number},
      {.kind = Kind::seen, .value = number},
  };
  for (const Frame& frame : sent) expect_back(frame);
}

/// Two machines agree on it whatever they are.
TEST(Frames, LieAsTheHeadOfTheFileSays) {
  const std::vector payload = {std::byte{1}, std::byte{8}, std::byte{15}};
  const Bytes bytes = written(message(1, payload, impl::flag::multicast));
  const std::uint8_t expected[] = {
      48,   0,    0,    0,    1,    1,    0,    0,     // length, message, high
      0,    0,    1,    2,    0,    0,    0x11, 0x01,  // handler 513, one word, multicast and payload
      4,    3,    2,    1,    3,    0,    0,    0,     // origin, payload bytes
      0x00, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // the word
      1,    8,    15,   0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,  // the payload
  };
  ASSERT_EQ(bytes.all().size(), sizeof expected);
  EXPECT_EQ(std::memcmp(bytes.all().data(), expected, sizeof expected), 0);
}

TEST(Frames, AskForWhatIsMissing) {
  const Bytes whole = written(message(3, test::patterned(100, 1)));
  for (std::size_t size = 0; size < whole.all().size(); ++size) {
    const Bytes part(whole.all().first(size));
    Frame frame;
    const Read result = read(part, frame);
    ASSERT_EQ(result.outcome, Outcome::more) << size;
    EXPECT_EQ(result.bytes, size < frame_alignment ? frame_alignment : whole.all().size());
  }
}

TEST(Frames, TheHeadOfAMessageIsReadBeforeTheRestHasCome) {
  const std::vector<std::byte> payload = test::patterned(100'000, 1);
  for (std::size_t words = 0; words <= impl::max_words; ++words) {
    const Frame sent = message(words, payload);
    const Bytes whole = written(sent);
    const auto begun = read_begun_message(Bytes(whole.all().first(longest_head)).all());
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->frame.head.bits, sent.head.bits);
    EXPECT_EQ(begun->frame.priority, sent.priority);
    EXPECT_EQ(begun->frame.words, sent.words);
    EXPECT_EQ(begun->payload_bytes, payload.size());
    EXPECT_TRUE(begun->frame.payload.empty());
    for (const std::size_t at : {0, 3, 4, 5, 6, 8, 12, 15, 20, 23}) {
      Bytes wrong(whole.all());
      wrong[at] = ~wrong[at];
      Frame frame;
      EXPECT_EQ(read(wrong, frame).outcome, Outcome::malformed) << at;
      EXPECT_FALSE(read_begun_message(Bytes(wrong.all().first(longest_head)).all())) << at;
    }
  }
  Bytes other(longest_head);
  std::memset(other.data(), 0, longest_head);
  write_frame(other.data(), Frame{.kind = Kind::word});
  EXPECT_FALSE(read_begun_message(other.all()));
}

class NoFrame : public testing::Test {
 protected:
  static std::string why(const Frame& frame, const std::function<void(Bytes&)>& change) {
    Bytes bytes = written(frame);
    change(bytes);
    Frame came;
    const Read result = read(bytes, came);
    return result.outcome == Outcome::malformed ? std::string(result.why) : "it is taken";
  }
  static std::function<void(Bytes&)> at(std::size_t place, int byte) {
    return [=](Bytes& bytes) { bytes[place] = static_cast<std::byte>(byte); };
  }
  const std::vector<std::byte> payload_ = test::patterned(100, 1);
  const Frame message_ = message(3, payload_);
  const Frame clock_{.kind = Kind::clock};
};

TEST_F(NoFrame, HasALengthThatNoneCanHave) {
  constexpr const char* length = "a frame has a length that none can have";
  EXPECT_EQ(why(clock_, at(0, 0)), length);
  EXPECT_EQ(why(clock_, at(0, 17)), length);
  EXPECT_EQ(why(clock_, at(3, 0x80)), length);
  EXPECT_EQ(why(clock_, [](Bytes& bytes) { std::memset(bytes.data(), 0xff, 4); }), length);
  EXPECT_EQ(why(clock_, at(0, 32)), "a frame has another length than its kind");
  EXPECT_EQ(why(clock_, at(4, 1)), "a message's frame has another length than it");
}

TEST_F(NoFrame, IsOfNoKind) {
  EXPECT_EQ(why(clock_, at(4, 0)), "a frame is of no kind that there is");
  EXPECT_EQ(why(clock_, at(4, 12)), "a frame is of no kind that there is");
}

TEST_F(NoFrame, SaysSomethingWhereItHasNothingToSay) {
  constexpr const char* unused = "a frame has content in a place that stays empty";
  for (const Kind kind :
       {Kind::word, Kind::clock, Kind::answer, Kind::farewell, Kind::segment, Kind::probe, Kind::seen})
    EXPECT_EQ(why(Frame{.kind = kind}, at(5, 1)), unused) << "a priority";
  EXPECT_EQ(why(clock_, at(5, 2)), unused) << "a priority that there is not";
  EXPECT_EQ(why(clock_, at(6, 1)), unused);
  EXPECT_EQ(why(Frame{.kind = Kind::segment}, at(24, 1)), unused);
  EXPECT_EQ(why(Frame{.kind = Kind::word}, at(12, 1)), unused);
  for (const Kind kind : {Kind::word, Kind::answer}) EXPECT_EQ(why(Frame{.kind = kind}, at(31, 1)), unused);
  EXPECT_EQ(why(Frame{.kind = Kind::farewell}, at(8, 1)), unused);
  EXPECT_EQ(why(message(2, payload_), at(40, 1)), unused) << "between words and payload";
  EXPECT_EQ(why(message_, [](Bytes& bytes) { bytes[bytes.all().size() - 1] = std::byte{1}; }), unused);
}

TEST_F(NoFrame, HasAPayloadElsewhereThatIsNone) {
  EXPECT_EQ(why(message_elsewhere(2, 1), at(20, 0)), "a message does not know whether it has a payload");
  EXPECT_EQ(why(message_elsewhere(2, frame_payload_bytes), at(20, 1)), "a message's payload is too long");
  EXPECT_EQ(why(message_elsewhere(2, 100), at(4, 1)), "a message's frame has another length than it");
  Frame without = message_elsewhere(2, 0);
  without.head = impl::Header::make(513, 2, 0, 0);
  EXPECT_EQ(why(without, [](Bytes&) {}), "a payload that is elsewhere is empty");
}

TEST_F(NoFrame, IsAPieceThatNoneIs) {
  constexpr const char* piece = "a piece of a payload has values that no piece has";
  using namespace impl;
  const auto taken = [](Bytes&) {};
  EXPECT_EQ(why(message(1, payload_, flag::more), taken), "it is taken");
  EXPECT_EQ(why(message(6, payload_, flag::last | flag::multicast), taken), "it is taken");
  EXPECT_EQ(why(message(0, payload_, flag::more), taken), piece);
  EXPECT_EQ(why(message(2, payload_, flag::more), taken), piece);
  EXPECT_EQ(why(message(1, payload_, flag::more | flag::last), taken), piece);
  EXPECT_EQ(why(message(1, payload_, flag::more | flag::multicast), taken), piece);
  EXPECT_EQ(why(message(1, {}, flag::more), taken), "a piece of a payload is empty");
  EXPECT_EQ(why(message(1, {}, flag::last), taken), "a piece of a payload is empty");
}

TEST_F(NoFrame, IsAMessageThatContradictsItself) {
  constexpr const char* header = "a message's header has values that no message has";
  EXPECT_EQ(why(message_, at(8, 1)), header) << "a lap";
  EXPECT_EQ(why(message_, at(12, 1)), header) << "a place";
  EXPECT_EQ(why(message(0, {}, impl::flag::pad), at(0, 32)), header);
  EXPECT_EQ(why(message(0, {}, impl::flag::elsewhere), at(0, 32)), header);
  EXPECT_EQ(why(message(0, {}, impl::flag::misfit), at(0, 32)), header);
  EXPECT_EQ(why(message_, at(14, 0x17)), "a message has too many words");
  EXPECT_EQ(why(message_, at(15, 0)), "a message does not know whether it has a payload");
  EXPECT_EQ(why(message(0, {}), at(15, 1)), "a message does not know whether it has a payload");
  EXPECT_EQ(why(message_, at(23, 1)), "a message's payload is too long");
  EXPECT_EQ(why(message_, at(14, 0x15)), "a message's frame has another length than it");
  EXPECT_EQ(why(message_, at(20, 50)), "a message's frame has another length than it");
  EXPECT_EQ(why(message_, at(20, 200)), "a message's frame has another length than it");
}

}  // namespace am::frames::frames_test
