// What lies between a socket and the messages of a link: bytes gathered to be written, frames found again in pieces of any size,
// memory that is used again once the last message in it was released.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/patterns.hpp"
#include "transports/frames/arrivals.hpp"
#include "transports/frames/window.hpp"
#include "transports/tcp/frame_reader.hpp"
#include "transports/tcp/out_queue.hpp"

namespace am::tcp::stream_test {

constexpr NodeId nodes = 3;

Frame message(std::uint64_t word, std::span<const std::byte> payload = {},
              Priority priority = Priority::low) {
  Frame frame{.kind = Frame::Kind::message, .priority = priority};
  frame.head = impl::Header::make(1, 1, 0, payload.empty() ? 0 : impl::flag::payload);
  frame.words[0] = word;
  frame.payload = Payload(payload.data(), payload.size());
  return frame;
}

void add(OutQueue& out, const Frame& frame) { write_frame(out.add(frame_bytes(frame)), frame); }

/// A source of bytes that gives as many as it likes.
struct Trickle {
  OutQueue& queue;
  test::Random& random;
  std::size_t most;
  Socket::Moved operator()(std::span<const iovec> pieces) const {
    std::vector<iovec> some;
    std::size_t left = 1 + random() % most;
    for (const iovec& piece : pieces) {
      some.push_back({piece.iov_base, std::min(left, piece.iov_len)});
      left -= some.back().iov_len;
    }
    return queue.read(some);
  }
};

/// What has been read of the bytes in a queue.
struct Reading {
  std::function<std::byte*(const BegunMessage&)> place = [](const BegunMessage&) { return nullptr; };
  std::string_view opinion{};  // of each message
  Arrivals arrivals{nodes};
  FrameReader reader{};

  template <class Source>
  std::string_view operator()(const Source& source) {
    return reader
        .read(arrivals, source, place,
              [this](const Frame& frame, std::span<const std::byte> bytes, const Block& block) {
                arrivals.add(frame.priority, {1, 0, frame.head, bytes, frame.payload, block});
                return opinion;
              })
        .malformed;
  }
  /// All of it, unless there is something wrong with it, which is the answer then.
  std::string_view all(OutQueue& out) {
    std::string_view malformed;
    while (!out.empty() && malformed.empty())
      malformed = (*this)([&](std::span<const iovec> pieces) { return out.read(pieces); });
    return malformed;
  }
};

/// Messages with payloads of all sizes, of which a third belongs somewhere and a few, in the end, nowhere after all.
class FrameReaders : public testing::Test {
 protected:
  struct Place {
    std::vector<std::byte> bytes;
    std::size_t asked = 0;
    std::size_t answers = 0;  // so often it is said; then no more
  };
  static constexpr std::byte untouched{0xee};

  void send(std::uint64_t number, std::size_t most) {
    const std::vector<std::byte> payload =
        test::patterned(random_.one_in(3) ? random_.below(200) : random_.below(most + 1), number);
    if (number % 3 == 0) {
      places_[number] = {std::vector<std::byte>(payload.size() + 1, untouched), 0,
                         random_.one_in(4) ? 1 + random_.below(4) : ~std::size_t{0}};
    }
    add(out_, message(number, payload));
  }
  std::byte* place(const BegunMessage& message) {
    EXPECT_GE(message_bytes(1, message.payload_bytes), FrameReader::least_placed_bytes);
    const auto found = places_.find(message.frame.words[0]);
    if (found == places_.end()) return nullptr;
    Place& place = found->second;
    EXPECT_EQ(place.bytes.size(), message.payload_bytes + 1);
    if (++place.asked > place.answers) std::ranges::fill(place.bytes, untouched);
    return place.asked > place.answers ? nullptr : place.bytes.data();
  }
  void check(const Arrivals::Message& came, std::uint64_t number) {
    const Place& place = places_[number];  // or none
    const bool is_given_up = place.asked > place.answers;
    const bool is_placed = place.asked != 0 && !is_given_up;
    EXPECT_EQ(!place.bytes.empty() && came.payload.data() == place.bytes.data(), is_placed);
    placed_ += is_placed ? 1 : 0;
    given_up_ += is_given_up ? 1 : 0;
    if (is_given_up) {
      EXPECT_TRUE(std::ranges::all_of(place.bytes, [](std::byte byte) { return byte == untouched; }));
      return;
    }
    EXPECT_TRUE(place.bytes.empty() || place.bytes.back() == untouched);
    EXPECT_TRUE(test::is_patterned(came.payload.data(), came.payload.size(), number)) << number;
    if (is_placed) return;
    Frame frame;
    EXPECT_EQ(read_frame(came.frame, frame).outcome, Read::Outcome::frame);
    EXPECT_EQ(frame.words[0], number);
  }

  test::Random random_{test::seed()};
  OutQueue out_;
  std::map<std::uint64_t, Place> places_;
  int placed_ = 0;
  int given_up_ = 0;
};

TEST_F(FrameReaders, FindFramesInPiecesOfAnySizeAndPutLongPayloadsWhereTheyAreWanted) {
  for (const std::size_t at_once : {1, 15, 17, 100, 5'000, 70'000, 1'000'000}) {
    Reading reading{.place = [&](const BegunMessage& message) { return place(message); }};
    const std::uint64_t all = at_once <= 100 ? 30 : 80;
    std::uint64_t sent = 0, received = 0;
    places_.clear();
    while (received < all) {
      while (sent < all && out_.bytes() < 2'000'000)
        send(sent++, at_once <= 100 ? 2'000 : frame_payload_bytes);
      ASSERT_EQ(reading(Trickle{out_, random_, at_once}), "");
      reading.arrivals.begin_round();
      while (const Arrivals::Message* next = reading.arrivals.receive(Priority::low)) {
        check(*next, received++);
        reading.arrivals.release(Priority::low);
        if (random_.one_in(4)) break;
      }
    }
    EXPECT_TRUE(out_.empty());
  }
  EXPECT_GT(placed_, 20);
  EXPECT_GT(given_up_, 2);
}

/// What lies elsewhere is checked as what does not.
TEST(FrameReader, SeesAWrongPaddingBehindAPayloadThatItPutElsewhere) {
  const std::vector<std::byte> payload(frame_payload_bytes - 1);
  for (const bool wrong : {false, true}) {
    std::vector<std::byte> frame(message_bytes(1, payload.size()));
    write_frame(frame.data(), message(1, payload));
    if (wrong) frame.back() = std::byte{1};
    OutQueue out;
    std::ranges::copy(frame, out.add(frame.size()));
    std::vector<std::byte> place(payload.size(), std::byte{7});
    Reading reading{.place = [&](const BegunMessage&) { return place.data(); }};
    EXPECT_EQ(reading.all(out), wrong ? wrong_padding : std::string_view{});
    EXPECT_EQ(reading.arrivals.receive(Priority::low) != nullptr, !wrong);
    EXPECT_EQ(place, payload);
  }
}

TEST(FrameReader, SaysWhatIsNoFrameOrNotWanted) {
  OutQueue good;
  add(good, message(1));
  EXPECT_EQ(Reading{.opinion = "not wanted"}.all(good), "not wanted");
  OutQueue bad;
  std::memset(bad.add(32), 0xff, 32);
  EXPECT_NE(Reading{}.all(bad), "");
  OutQueue half;
  add(half, message(1));
  std::memset(half.add(16), 0xff, 16);
  EXPECT_NE(Reading{}.all(half), "") << "also behind a good one";
}

class ArrivalsOfThree : public testing::Test {
 protected:
  void come(NodeId from, std::uint64_t number, Priority priority = Priority::low, std::size_t bytes = 16) {
    const Arrivals::Room room = arrivals_.room();
    std::memcpy(room.bytes.data(), &number, sizeof number);
    arrivals_.filled(room, bytes);
    arrivals_.add(priority, {from, from, {}, room.bytes.first(bytes), {}, room.block});
  }
  std::uint64_t receive(Priority priority = Priority::low) {
    const Arrivals::Message* next = arrivals_.receive(priority);
    if (next == nullptr) return none;
    std::uint64_t number = 0;
    std::memcpy(&number, next->frame.data(), sizeof number);
    return number;
  }
  static constexpr std::uint64_t none = ~0ull;
  Arrivals arrivals_{nodes};
};

/// A round that begins while one is lent is not that priority's: its handler waits, and serves the other one.
TEST_F(ArrivalsOfThree, WhoIsDeferredIsNotOvertakenByHisOwnLaterOnes) {
  come(1, 10);
  come(2, 20);
  come(1, 11);
  EXPECT_EQ(receive(), 10u);
  arrivals_.defer(Priority::low);
  EXPECT_EQ(receive(), 20u);
  arrivals_.begin_round();
  arrivals_.release(Priority::low);
  EXPECT_EQ(receive(), none);
  arrivals_.begin_round();
  EXPECT_EQ(receive(), 10u);
}

/// One of each priority is lent, and one more stays for ever, while much else comes and goes.
TEST_F(ArrivalsOfThree, KeepWhatStaysAndUseTheRestOfTheMemoryAgain) {
  come(1, 1);
  come(2, 2);
  come(1, 3, Priority::high);
  ASSERT_EQ(receive(), 1u);
  const std::byte* const lent = arrivals_.receive(Priority::low)->frame.data();
  std::set<const std::byte*> memory;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    come(0, 100 + i, Priority::high, Arrivals::least_room);
    memory.insert(arrivals_.room().bytes.data());
    arrivals_.begin_round();
    if (i == 0) {
      ASSERT_EQ(receive(Priority::high), 3u);
      arrivals_.release(Priority::high);
    }
    ASSERT_EQ(receive(Priority::high), 100 + i);
    arrivals_.release(Priority::high);
  }
  EXPECT_LE(memory.size(), 4 * 8u + 1) << "four blocks of eight rooms";
  EXPECT_EQ(receive(), 1u);
  EXPECT_EQ(arrivals_.receive(Priority::low)->frame.data(), lent) << "what is lent does not move";
  EXPECT_TRUE(arrivals_.waits(Priority::low, true)) << "the second";
  arrivals_.release(Priority::low);
  EXPECT_EQ(receive(), 2u);
  EXPECT_FALSE(arrivals_.waits(Priority::low, true));
  EXPECT_TRUE(arrivals_.waits(Priority::low, false));
  EXPECT_FALSE(arrivals_.waits(Priority::high, false));
}

TEST(Windows, CountWhatIsUnreleased) {
  OutWindow out;
  InWindow in;
  std::uint64_t sent = 0;
  while (out.has_room(1'000)) {
    out.sent(1'000);
    ASSERT_TRUE(in.received(1'000));
    ++sent;
  }
  EXPECT_EQ(sent, window_bytes / credit_of(1'000));
  EXPECT_FALSE(in.has_news());
  in.released(1'000);
  EXPECT_TRUE(in.has_news());
  EXPECT_FALSE(in.rides_along()) << "not worth it";
  in.released(window_bytes / 256);
  EXPECT_TRUE(in.rides_along());
  EXPECT_FALSE(in.is_due());
  EXPECT_TRUE(out.released(in.tell()));
  EXPECT_FALSE(in.has_news());
  EXPECT_FALSE(in.rides_along());
  EXPECT_TRUE(out.has_room(1'000));
  EXPECT_FALSE(out.released(500)) << "less than before";
  EXPECT_FALSE(out.released(sent * credit_of(1'000) + 1)) << "more than was sent";
  in.released(window_bytes / 4);
  EXPECT_TRUE(in.is_due());
  InWindow other;
  EXPECT_TRUE(other.received(window_bytes - credit_of(0)));
  EXPECT_FALSE(other.received(1)) << "without credit";
  OutWindow longs;
  longs.sent(longest_frame);
  EXPECT_TRUE(longs.has_room(longest_frame)) << "two of the longest";
}

}  // namespace am::tcp::stream_test
